/** Kept answers across a change of the configuration. */
import type { Network, Snapshot } from '../../snapshot/types.ts'
import type { Live } from '../context.ts'

/** Drops the answers of networks that mean another chain now, or another block by final; the others stay. */
export function dropOutdated(
  before: Snapshot,
  next: Snapshot,
  { answers, heads }: Pick<Live, 'answers' | 'heads'>,
): void {
  if (before.gateway.cache !== null || next.gateway.cache !== null)
    answers.resize(next.gateway.cache?.memory ?? 0)
  for (const network of Object.values(before.networks)) {
    if (network.cache === null || isSame(network, next.networks[network.slug])) continue
    heads.finality.forget(network.slug)
    answers.purge({ network: network.slug })
  }
}

function isSame(before: Network, next: Network | undefined): boolean {
  return (
    next !== undefined &&
    next.cache !== null &&
    next.chainId === before.chainId &&
    next.genesisHash === before.genesisHash &&
    next.finality === before.finality &&
    JSON.stringify(next.identity) === JSON.stringify(before.identity)
  )
}
