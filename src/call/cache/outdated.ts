/** Kept answers across a change of the configuration. */
import type { MethodRow, Network, Snapshot } from '../../snapshot/types.ts'
import type { Live } from '../context.ts'

/** Drops the answers of networks that mean another chain now, or another block by final, and of rows that keep others; the rest stays. */
export function dropOutdated(
  before: Snapshot,
  next: Snapshot,
  { answers, heads }: Pick<Live, 'answers' | 'heads'>,
): void {
  if (before.gateway.cache !== null || next.gateway.cache !== null)
    answers.resize(next.gateway.cache?.memory ?? 0)
  for (const network of Object.values(before.networks)) {
    if (network.cache === null) continue
    const { slug } = network
    const edited = next.networks[slug]
    if (edited !== undefined && isSame(network, edited)) {
      for (const method of editedRows(network, edited)) answers.purge({ network: slug, method })
      continue
    }
    heads.finality.forget(slug)
    answers.purge({ network: slug })
  }
}

/** The rows whose kept answers mean something else now. Where one came or went, a pattern may have stood in its place, or does now. */
function editedRows(before: Network, next: Network): ReadonlySet<string> {
  const [old, edited] = [meanings(before), meanings(next)]
  const names = [...new Set([...old.keys(), ...edited.keys()])].filter(
    name => old.get(name) !== edited.get(name),
  )
  if (names.length === 0) return new Set()
  return new Set([...names, ...[...before.patterns, ...next.patterns].map(({ rule }) => rule.match)])
}

/** What each row says of what is kept of it. */
function meanings({ methods, patterns }: Network): ReadonlyMap<string, string> {
  const rows: readonly MethodRow[] = [...Object.values(methods), ...patterns]
  return new Map(
    rows.map(({ rule: { match, cache, block, shows } }) => [match, JSON.stringify([cache, block, shows])]),
  )
}

function isSame(before: Network, next: Network): boolean {
  return (
    next.cache !== null &&
    next.chainId === before.chainId &&
    next.genesisHash === before.genesisHash &&
    next.finality === before.finality &&
    JSON.stringify(next.identity) === JSON.stringify(before.identity)
  )
}
