import type { Random } from '../support/random.ts'
import type { File } from './config-dir.ts'

/** A route that edits may do anything to. */
interface RouteDocument {
  id: string
  network: string
  http: string
  ws?: string
  weight: number
  priority: number
  capabilities: string[]
  enabled: boolean
}

/** The five files as plain data, in the shape that edits expect. */
export interface Documents {
  readonly 'networks.yaml': { baseUrl: string; networks: Record<string, Record<string, unknown>> }
  readonly 'routes.yaml': { routes: RouteDocument[] }
  readonly 'methods.yaml': { families: { evm: Record<string, Record<string, unknown>> } }
  readonly 'plans.yaml': {
    plans: Record<string, { rate: { perSecond: number; burst: number } } & Record<string, unknown>>
  }
  readonly 'gateway.yaml': {
    log: { level: string }
    cors: { origins: string[] }
  } & Record<string, unknown>
}

/** One valid edit: what it changed, and what the log has to say of it. */
export interface Edit {
  /** The files to write, in the order that keeps every step valid. */
  readonly files: readonly File[]
  /** The lines of the log, in any order. */
  readonly lines: readonly string[]
  /** A network that the edit brings or takes away. */
  readonly network?: { readonly slug: string; readonly is: 'here' | 'gone' }
}

/** What the edits may point at: upstreams beside those that the load depends on. */
export interface Upstreams {
  readonly spare: { readonly url: string; readonly wsUrl: string }
  readonly side: { readonly url: string; readonly wsUrl: string; readonly chainId: number }
}

/** The network that the load is on: it keeps `main-b`, and its other route under changing names. */
export const mainNetwork = 'main'

/** The method whose cost edits change: nobody calls it. */
export const unusedMethod = 'eth_hashrate'

/** Most extra routes, and most extra networks. */
const MOST = 3

type Kind = (documents: Documents, random: Random, count: number, upstreams: Upstreams) => Edit | null

/** Makes valid edits, each one a change, none that the load on the main network depends on. */
export class Edits {
  #count = 0

  constructor(
    readonly documents: Documents,
    readonly random: Random,
    readonly upstreams: Upstreams,
  ) {}

  /** Makes the next edit to the documents; every kind has its turn, at a random time in each round. */
  next(): Edit {
    const round = Object.values(kinds)
    if (this.#count % round.length === 0) this.#left = [...round]
    for (;;) {
      const kind = this.#left.length === 0 ? this.random.pick(round) : this.#take()
      const edit = kind(this.documents, this.random, this.#count, this.upstreams)
      if (edit === null) continue
      this.#count++
      return edit
    }
  }

  /** Takes away what earlier edits have added. */
  *cleanUp(): Generator<Edit> {
    for (const kind of [kinds['remove a network']!, kinds['remove a route']!])
      for (;;) {
        const edit = kind(this.documents, this.random, this.#count, this.upstreams)
        if (edit === null) break
        yield edit
      }
  }

  #left: Kind[] = []

  #take(): Kind {
    return this.#left.splice(this.random.below(this.#left.length), 1)[0]!
  }
}

const kinds: Readonly<Record<string, Kind>> = {
  weight: ({ 'routes.yaml': { routes } }, random) => {
    const route = random.pick(routes)
    return changed(route, 'weight', 1 + ((route.weight + random.below(8)) % 9))
  },
  priority: ({ 'routes.yaml': { routes } }, random) => {
    const route = random.pick(routes)
    return changed(route, 'priority', route.priority === 1 ? 2 : 1)
  },
  capabilities: ({ 'routes.yaml': { routes } }, random) => {
    const route = random.pick(routes)
    const word = random.pick(['trace', 'debug', 'txpool'])
    const { capabilities: old } = route
    const now = old.includes(word) ? old.filter(other => other !== word) : [...old, word]
    return changed(route, 'capabilities', now)
  },
  'add a route': ({ 'routes.yaml': { routes } }, random, count, { spare }) => {
    if (extras(routes).length >= MOST) return null
    const id = `extra-${count}`
    const own = { http: spare.url, ws: spare.wsUrl, capabilities: [], enabled: true }
    routes.splice(random.below(routes.length + 1), 0, {
      id,
      network: mainNetwork,
      weight: 1,
      priority: 1,
      ...own,
    })
    return { files: ['routes.yaml'], lines: [`routes.yaml: + ${id} (priority 1)`] }
  },
  'remove a route': ({ 'routes.yaml': { routes } }, random) => {
    const found = extras(routes)
    if (found.length === 0) return null
    const route = random.pick(found)
    routes.splice(routes.indexOf(route), 1)
    return { files: ['routes.yaml'], lines: [`routes.yaml: - ${route.id}`] }
  },
  'switch a route': ({ 'routes.yaml': { routes } }, random) => {
    const route = random.pick([...extras(routes), routes.find(({ id }) => id === 'main-b')!])
    return changed(route, 'enabled', !route.enabled)
  },
  'rename a route': ({ 'routes.yaml': { routes } }, _, count) => {
    const route = routes.find(({ id }) => id.startsWith('main-a'))!
    const old = route.id
    route.id = `main-a${count}`
    const lines = [`routes.yaml: + ${route.id} (priority ${route.priority})`, `routes.yaml: - ${old}`]
    return { files: ['routes.yaml'], lines }
  },
  'rate of a plan': ({ 'plans.yaml': { plans } }, random) => {
    const [name, { rate }] = random.pick(Object.entries(plans))
    const old = rate.perSecond
    rate.perSecond = old + 1 + random.below(1_000)
    return {
      files: ['plans.yaml'],
      lines: [`plans.yaml: ~ ${name} rate.perSecond ${old} → ${rate.perSecond}`],
    }
  },
  'cost of a method': ({ 'methods.yaml': { families } }, random) => {
    const rule = families.evm[unusedMethod]!
    const old = Number(rule['cost'])
    rule['cost'] = old + 1 + random.below(20)
    const lines = [`methods.yaml: ~ ${unusedMethod} cost ${old} → ${rule['cost'] as number}`]
    return { files: ['methods.yaml'], lines }
  },
  'add a network': ({ 'networks.yaml': { networks }, 'routes.yaml': { routes } }, _, count, { side }) => {
    if (Object.keys(networks).length > MOST) return null
    const slug = `side-${count}`
    const id = `${slug}-a`
    networks[slug] = { name: `Side ${count}`, family: 'evm', chainId: side.chainId }
    const own = { http: side.url, ws: side.wsUrl, capabilities: [], enabled: true }
    routes.push({ id, network: slug, weight: 1, priority: 1, ...own })
    return {
      files: ['networks.yaml', 'routes.yaml'],
      lines: [`networks.yaml: + ${slug}`, `routes.yaml: + ${id} (priority 1)`],
      network: { slug, is: 'here' },
    }
  },
  'remove a network': ({ 'networks.yaml': { networks }, 'routes.yaml': { routes } }, random) => {
    const slugs = Object.keys(networks).filter(slug => slug !== mainNetwork)
    if (slugs.length === 0) return null
    const slug = random.pick(slugs)
    delete networks[slug]
    const at = routes.findIndex(({ network }) => network === slug)
    const [route] = routes.splice(at, 1)
    return {
      files: ['routes.yaml', 'networks.yaml'],
      lines: [`networks.yaml: - ${slug}`, `routes.yaml: - ${route!.id}`],
      network: { slug, is: 'gone' },
    }
  },
  'log level': ({ 'gateway.yaml': { log } }) => {
    const old = log.level
    log.level = old === 'info' ? 'debug' : 'info'
    return { files: ['gateway.yaml'], lines: [`gateway.yaml: ~ log.level ${old} → ${log.level}`] }
  },
  'cors origins': ({ 'gateway.yaml': { cors } }, _, count) => {
    const old = cors.origins
    cors.origins = [`https://app-${count}.example.test`]
    const lines = [`gateway.yaml: ~ cors.origins [${old.join(', ')}] → [${cors.origins.join(', ')}]`]
    return { files: ['gateway.yaml'], lines }
  },
}

/** How many kinds of edits there are: so many make a round of all. */
export const kindCount = Object.keys(kinds).length

function extras(routes: readonly RouteDocument[]): RouteDocument[] {
  return routes.filter(({ id }) => id.startsWith('extra-'))
}

function changed<Name extends 'weight' | 'priority' | 'capabilities' | 'enabled'>(
  route: RouteDocument,
  name: Name,
  value: RouteDocument[Name],
): Edit | null {
  const old = route[name]
  if (JSON.stringify(old) === JSON.stringify(value)) return null
  route[name] = value
  const told = (one: unknown) => (Array.isArray(one) ? `[${one.join(', ')}]` : String(one))
  return {
    files: ['routes.yaml'],
    lines: [`routes.yaml: ~ ${route.id} ${name} ${told(old)} → ${told(value)}`],
  }
}
