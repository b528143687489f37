/** Solana, as Agave's nodes speak. */
import { rawJson } from '../../jsonrpc/raw.ts'
import { saysProcessed, transactionSignature } from './known-transaction.ts'
import { isSolanaOutcome } from '../errors/outcome.ts'
import { SOLANA_ERRORS, SOLANA_OUTCOMES } from '../errors/table.ts'
import type { Family } from '../family.ts'
import { shownBlockhash, shownSlots } from './shown-slots.ts'
import { solanaReading } from './reading.ts'
import { routeNeed } from './route-need.ts'
import { solanaProbe } from './probe.ts'
import { solanaSubscriptions } from './subscriptions.ts'

/** Agave's NodeUnhealthy: Solana's clients know it as "behind". */
const NODE_UNHEALTHY = -32005

/** Methods whose answer a transaction may be signed by; the older ones are off unless an operator needs them. */
const GIVE_BLOCKHASH = new Set(['getLatestBlockhash', 'getRecentBlockhash', 'getFees'])

export const solana: Family = {
  wire: 'json-rpc',
  codes: 'solana',
  anyVersion: false,
  errors: { outcomes: SOLANA_OUTCOMES, isOutcome: isSolanaOutcome, table: SOLANA_ERRORS, statuses: [] },
  isPositional: false,
  methodName: /^[A-Za-z0-9_]+$/,
  probeLag: 13,
  usualPace: 400,
  wants: ({ row, ...call }, network, blockhashes) => routeNeed(row, call, network, blockhashes),
  shown: ({ method }, wants, result) => ({
    heights: wants?.commitment == null ? [] : shownSlots(method, wants.commitment, result),
    blockhash: GIVE_BLOCKHASH.has(method) ? shownBlockhash(result) : null,
  }),
  reading: solanaReading,
  sentBefore: (elements, error) => {
    const signature = saysProcessed(error) ? transactionSignature(elements) : null
    return signature === null ? null : { result: signature, proof: null }
  },
  transactionHash: () => null,
  takenBy: () => null,
  well: '"ok"',
  unwell: numSlotsBehind => {
    const message =
      numSlotsBehind === null ? 'Node is unhealthy' : `Node is behind by ${numSlotsBehind} slots`
    return rawJson({ code: NODE_UNHEALTHY, message, data: { numSlotsBehind } })
  },
  subscriptions: solanaSubscriptions,
  ...solanaProbe,
}
