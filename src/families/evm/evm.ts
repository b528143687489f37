/** Ethereum and the chains whose nodes speak as its nodes do (execution API). */
import { readQuantity } from '../../jsonrpc/quantity.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { firstAt } from '../../jsonrpc/value-at.ts'
import { isEvmOutcome } from '../errors/outcome.ts'
import { EVM_ERRORS } from '../errors/table.ts'
import type { Family, ReadCall } from '../family.ts'
import type { RouteNeed } from '../route-need.ts'
import { hashOfTaken, readSendError, transactionHash } from './known-transaction.ts'
import { evmProbe } from './probe.ts'
import { evmReading } from './reading.ts'
import { evmSubscriptions } from './subscriptions.ts'

export const evm: Family = {
  wire: 'json-rpc',
  codes: 'evm',
  anyVersion: false,
  errors: { outcomes: [], isOutcome: isEvmOutcome, table: EVM_ERRORS, statuses: [] },
  isPositional: true,
  methodName: /^[A-Za-z0-9_]+$/,
  probeLag: 0,
  usualPace: 12_000,
  wants: ({ span }) => (span?.to.kind === 'tag' ? (SETTLED[span.to.tag] ?? null) : null),
  shown: (call, wants, result) => {
    const number = shownNumber(call, result)
    return { heights: number === null ? [] : [[wants?.scale ?? 'head', number]], blockhash: null }
  },
  reading: evmReading,
  sentBefore: (elements, { message }) => {
    const said = readSendError(message)
    const hash = said === 'other' ? null : transactionHash(elements)
    if (hash === null) return null
    const proof = { method: 'eth_getTransactionByHash', params: `[${hash}]` }
    return { result: hash, proof: said === 'known' ? null : proof }
  },
  transactionHash,
  takenBy: hashOfTaken,
  well: 'true',
  unwell: () => null,
  subscriptions: evmSubscriptions,
  ...evmProbe,
}

/** The block number that an answer shows its reader; null when it shows none. */
function shownNumber({ row, method, span }: ReadCall, result: Raw): number | null {
  if (method === 'eth_blockNumber') return readQuantity(result)
  const tag = span?.to.kind === 'tag' ? span.to.tag : null
  const path = row.rule.shows ?? (method === 'eth_getBlockByNumber' && tag !== null ? NUMBER : null)
  // No node has come to the block that is pending.
  return path === null || tag === 'pending' ? null : readQuantity(firstAt(result, path))
}

const NUMBER = ['number']

/** What calls with a settled tag need: a reader is never shown an older safe or finalized block than before. */
const SETTLED: Readonly<Record<string, RouteNeed>> = {
  safe: { commitment: null, scale: 'safe', slot: null, prefer: [] },
  finalized: { commitment: null, scale: 'finalized', slot: null, prefer: [] },
}
