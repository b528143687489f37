/** Which endpoints the list shows, and in which order: all of it is in the URL. */
import type { Endpoint } from '../api/types.ts'
import type { Query } from '../address.ts'
import { labelTexts } from '../text/labels.ts'

/** Endpoints of one page of the list. */
export const PAGE = 50

/** What the list can be sorted by. */
export const ORDERS = ['name', 'network', 'status', 'today', 'requests', 'used', 'created'] as const
export type Order = (typeof ORDERS)[number]

/** An endpoint as the list shows it. */
export interface Listed extends Endpoint {
  readonly networkName: string
  /** Request units since midnight UTC; null while that is not known. */
  readonly today: number | null
}

/** What the list is asked for. */
export interface Choice {
  readonly search: string
  /** Slug; empty for all. */
  readonly network: string
  /** Empty for all. */
  readonly status: string
  /** As it is read (`team=wallet`); empty for all. */
  readonly label: string
  readonly order: Order
  readonly down: boolean
  /** From 1. */
  readonly page: number
}

/** Reads the state of the page. A sort that begins with `-` runs from the largest. */
export function choiceOf(query: Query): Choice {
  const { q = '', network = '', status = '', label = '', sort = '', page = '' } = query
  const order = ORDERS.find(order => order === sort.replace(/^-/, '')) ?? 'created'
  const at = /^\d{1,4}$/.test(page) ? Math.max(1, Number(page)) : 1
  return { search: q, network, status, label, order, down: sort.startsWith('-'), page: at }
}

/** The page that is shown, and how many endpoints and pages there are. */
export interface Shown {
  readonly rows: readonly Listed[]
  readonly found: number
  readonly page: number
  readonly pages: number
}

/** Filters, sorts and cuts. */
export function show(all: readonly Listed[], choice: Choice): Shown {
  const words = choice.search.toLowerCase().split(/\s+/)
  const found = all.filter(
    one =>
      (choice.network === '' || one.chain === choice.network) &&
      (choice.status === '' || one.status === choice.status) &&
      (choice.label === '' || labelTexts(one.labels).includes(choice.label)) &&
      words.every(word => textOf(one).includes(word)),
  )
  const value = VALUES[choice.order]
  found.sort((a, b) => compare(value(a), value(b)) || compare(a.createdAt, b.createdAt))
  if (choice.down) found.reverse()
  const pages = Math.max(1, Math.ceil(found.length / PAGE))
  const page = Math.min(choice.page, pages)
  return { rows: found.slice((page - 1) * PAGE, page * PAGE), found: found.length, page, pages }
}

const textOf = ({ name, chain, networkName, endpointId, keyHint, labels }: Listed): string =>
  [name, chain, networkName, endpointId, keyHint, ...labelTexts(labels)].join(' ').toLowerCase()

type Value = string | number

const VALUES: Readonly<Record<Order, (one: Listed) => Value>> = {
  name: ({ name }) => name,
  network: ({ networkName }) => networkName,
  status: ({ status }) => status,
  today: ({ today }) => today ?? 0,
  requests: ({ requestCount }) => requestCount,
  used: ({ lastUsedAt }) => lastUsedAt ?? 0,
  created: ({ createdAt }) => createdAt,
}

const words = new Intl.Collator('en', { numeric: true })

const compare = (a: Value, b: Value): number =>
  typeof a === 'string' ? words.compare(a, String(b)) : a - Number(b)
