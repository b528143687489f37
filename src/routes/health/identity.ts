/** Whether a route leads to the chain that the configuration says. */
import { decodeJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Network } from '../../snapshot/types.ts'

/** What a node is asked for its chain; null when there is nothing to compare. */
export function identityQuestion(network: Pick<Network, 'family' | 'genesisHash'>): string | null {
  if (network.family === 'evm') return 'eth_chainId'
  return network.family === 'solana' && network.genesisHash !== null ? 'getGenesisHash' : null
}

/** What is wrong with the answer, as a sentence; null when it is the right chain, or no answer to the question. */
export function identityFault(
  network: Pick<Network, 'family' | 'chainId' | 'genesisHash'>,
  result: Raw,
): string | null {
  const told = decodeJson(result)
  if (typeof told !== 'string') return null
  if (network.family !== 'evm')
    return told === network.genesisHash ? null : 'it serves a chain with another genesis'
  if (!/^0x[0-9a-f]+$/i.test(told) || Number(told) === network.chainId) return null
  return `it serves chain ${Number(told)}, not ${network.chainId}`
}
