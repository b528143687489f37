/** What a Solana call asks of a route besides being able: how settled, how new, and which one knows its blockhash. */
import { configOf, memberOf } from '../../jsonrpc/elements.ts'
import { decodeJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { MethodRow } from '../../snapshot/types.ts'
import type { Blockhashes } from '../blockhashes.ts'
import type { Commitment } from '../height-kind.ts'
import type { RouteNeed } from '../route-need.ts'
import { blockhashOfMessage, stringOf, transactionOf } from './transaction.ts'

/** What nodes make of the words of `commitment`, the old ones included; without one it is `finalized`. */
const WORDS: Readonly<Record<string, Commitment>> = {
  processed: 'processed',
  recent: 'processed',
  confirmed: 'confirmed',
  single: 'confirmed',
  singleGossip: 'confirmed',
}

/** Reads the wish out of a call. */
export function routeNeed(
  { rule, archive }: MethodRow,
  {
    method,
    params,
    elements,
  }: { readonly method: string; readonly params: Raw; readonly elements: readonly Raw[] },
  network: string,
  blockhashes: Pick<Blockhashes, 'find'>,
): RouteNeed {
  const config = configOf(rule.commitment, elements)
  const name = method === 'sendTransaction' ? 'preflightCommitment' : 'commitment'
  const commitment = commitmentIn(rule.commitment, name, config)
  const least = config === null ? null : decoded(config, 'minContextSlot')
  const blockhash = blockhashOf(method, elements)
  const known = blockhash === null ? null : blockhashes.find(network, blockhash)
  if (known !== null) {
    const slot = highest(least, known.slot)
    return { commitment, scale: known.commitment, slot, prefer: known.routes }
  }
  const slot = highest(least, null)
  // A height says nothing of a slot: what the call asks itself comes first.
  const scale = method === 'getBlockHeight' && slot === null ? (`${commitment} height` as const) : commitment
  return { commitment, scale, slot, prefer: rangesFar(rule, method, params) ? archive : [] }
}

/** How settled a call wants it, by a member of its config object. Methods that take none answer from the newest bank. */
export function commitmentIn(at: number | null, name: string, config: Raw | null): Commitment {
  if (at === null) return 'processed'
  const word = config === null ? null : decoded(config, name)
  return (typeof word === 'string' ? WORDS[word] : undefined) ?? 'finalized'
}

/** Calls that look through history without saying how far back: an archive answers them whole. */
function rangesFar({ reads, block }: MethodRow['rule'], method: string, params: Raw): boolean {
  if (reads !== 'history' || block !== null) return false
  return method !== 'getSignatureStatuses' || /"searchTransactionHistory"\s*:\s*true/.test(params)
}

/** The blockhash that a call is about. */
function blockhashOf(method: string, elements: readonly Raw[]): string | null {
  switch (method) {
    case 'sendTransaction':
    case 'simulateTransaction':
      return transactionOf(elements)?.blockhash ?? null
    case 'isBlockhashValid':
      return stringOf(elements[0])
    case 'getFeeForMessage':
      return blockhashOfMessage(elements)
    default:
      return null
  }
}

function decoded(config: Raw, name: string): unknown {
  const value = memberOf(config, name)
  return value == null ? null : decodeJson(value)
}

function highest(a: unknown, b: number | null): number | null {
  if (typeof a !== 'number' || !Number.isFinite(a)) return b
  return Math.max(a, b ?? 0)
}
