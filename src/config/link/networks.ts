import type { Finding } from '../finding.ts'
import { show } from '../words/show.ts'
import type { Partly, RawConfig, RawNetwork } from '../raw-config.ts'
import { baseUrlFault } from '../base-url.ts'
import { wordsOf } from '../families.ts'
import { named } from './rows.ts'
import type { Row } from './rows.ts'

/** Paths of the dashboard and the API; a slug of that name could not be reached in the path. */
const TAKEN: ReadonlySet<string> = new Set(['v1', 'dashboard', 'assets', 'api'])

/** What networks.yaml gets wrong in itself. */
export function checkNetworks(written: Partly<RawConfig>, rows: readonly Row[]): Finding[] {
  const networks = named(written.networks?.networks)
  return [
    ...checkBaseUrl(written.networks?.baseUrl),
    ...networks.flatMap(([slug, network]) => [
      ...checkSlug(slug),
      ...checkChainId(slug, network),
      ...checkUnused(slug, network),
      ...checkFinality(slug, network),
      ...checkRanges(slug, network, rows),
    ]),
    ...checkSubdomains(networks),
  ]
}

function checkBaseUrl(baseUrl: string | undefined): Finding[] {
  const fault = baseUrl === undefined ? null : baseUrlFault(baseUrl)
  return fault === null ? [] : [{ file: 'networks.yaml', path: ['baseUrl'], at: 'value', ...fault }]
}

function checkSlug(slug: string): Finding[] {
  if (!TAKEN.has(slug)) return []
  const message = `"${slug}" cannot be a slug: it is a path of the gateway's own`
  return [{ file: 'networks.yaml', path: ['networks', slug], at: 'key', message }]
}

function checkChainId(slug: string, { family, chainId }: Partly<RawNetwork>): Finding[] {
  if (family === undefined || chainId === undefined) return []
  const place = { file: 'networks.yaml', path: ['networks', slug, 'chainId'], at: 'value' } as const
  const wanted = wordsOf(family).chainId
  if (wanted === (typeof chainId === 'number' ? 'number' : 'text')) return []
  return wanted === 'number'
    ? [
        {
          ...place,
          message: `${show(chainId)} is not an EVM chain id`,
          hint: 'write a whole number without quotes',
        },
      ]
    : [{ ...place, message: `${chainId} is not an identifier`, hint: 'write a text, such as solana-mainnet' }]
}

/** Keys that its family does not read: what they promise would not be kept. */
function checkUnused(slug: string, network: Partly<RawNetwork>): Finding[] {
  if (network.family === undefined) return []
  const { unused, called } = wordsOf(network.family)
  return Object.entries(unused).flatMap(([key, hint]): Finding[] => {
    if (!(key in network)) return []
    const message = `"${key}" means nothing on ${called}`
    return [{ file: 'networks.yaml', path: ['networks', slug, key], at: 'key', message, hint }]
  })
}

/** A block that its nodes have no name for, or a depth below a head that nobody asks for. */
function checkFinality(slug: string, { family, finality, head }: Partly<RawNetwork>): Finding[] {
  if (family === undefined || finality === undefined || finality === 'none') return []
  const place = { file: 'networks.yaml', path: ['networks', slug, 'finality'], at: 'value' } as const
  const { finalityTags, called, unused } = wordsOf(family)
  if (unused.finality !== undefined) return []
  if (typeof finality === 'string') {
    if (finalityTags.includes(finality)) return []
    const hint =
      finalityTags.length === 0
        ? 'write how many blocks below the head'
        : `write ${finalityTags.join(' or ')}`
    return [{ ...place, message: `nodes of ${called} have no ${finality} block`, hint }]
  }
  if (unused.head !== undefined || head !== undefined) return []
  return [{ ...place, message: 'without head no block is known to be that deep', hint: 'write head' }]
}

/** Ranges that end at the newest block, on a network whose newest block nobody asks for: maxRange would bound none of them. */
function checkRanges(slug: string, { family, head }: Partly<RawNetwork>, rows: readonly Row[]): Finding[] {
  if (family === undefined || wordsOf(family).unused.head !== undefined || head !== undefined) return []
  const bounded = rows.find(row => {
    const isOwn = row.network === slug || (row.network === null && row.family === family)
    const { maxRange, networks, dialects } = row.whole
    return isOwn && maxRange !== undefined && (networks?.includes(slug) ?? dialects === undefined)
  })
  if (bounded === undefined) return []
  const message = `without head the maxRange of ${bounded.name} bounds no range that ends at the newest block`
  return [{ file: 'networks.yaml', path: ['networks', slug], at: 'key', message, hint: 'write head' }]
}

function checkSubdomains(networks: readonly [string, Partly<RawNetwork>][]): Finding[] {
  const owners = new Map<string, string>()
  return networks.flatMap(([slug, { subdomain }]): Finding[] => {
    const taken = subdomain ?? defaultSubdomain(slug)
    const owner = owners.get(taken)
    if (owner === undefined) {
      owners.set(taken, slug)
      return []
    }
    const message = `the subdomain "${taken}" belongs to ${owner} already`
    const place =
      subdomain === undefined
        ? ({ path: ['networks', slug], at: 'key' } as const)
        : ({ path: ['networks', slug, 'subdomain'], at: 'value' } as const)
    return [{ file: 'networks.yaml', ...place, message }]
  })
}

/** The subdomain of a network that names none. */
export function defaultSubdomain(slug: string): string {
  return `${slug}-rpc`
}
