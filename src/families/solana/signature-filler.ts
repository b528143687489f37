/** `signatureSubscribe`: one message and over; what came in a gap is asked of getSignatureStatuses. */
import { elementsOf, memberOf } from '../../jsonrpc/elements.ts'
import { decodeJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { GapBroken, mustAsk } from '../gap.ts'
import type { Ask, GapFiller } from '../gap.ts'

/** Solana's commitments, weakest first. */
const COMMITMENTS = ['processed', 'confirmed', 'finalized']

/** A filler for the signature and commitment of a subscribe call's params. */
export function signatureFiller(params: Raw): GapFiller {
  const [signature = '""', config] = params.charCodeAt(0) === 91 ? elementsOf(params) : []
  return {
    started: () => Promise.resolve(),
    take: () => true,
    // What is no object is not a valid word about the signature.
    isLast: result => result.charCodeAt(0) === 123 && memberOf(result, 'value') !== '"receivedSignature"',
    fill: ask => fillSignature(ask, signature, commitmentOf(config)),
  }
}

async function* fillSignature(ask: Ask, signature: Raw, wanted: number): AsyncGenerator<Raw> {
  const result = await mustAsk(ask, 'getSignatureStatuses', `[[${signature}]]`)
  const value = result.charCodeAt(0) === 123 ? memberOf(result, 'value') : null
  if (value?.charCodeAt(0) !== 91) throw new GapBroken('getSignatureStatuses gave no statuses')
  const [status] = elementsOf(value, 1)
  if (status?.charCodeAt(0) !== 123) return
  const reached = memberOf(status, 'confirmationStatus') ?? '"processed"'
  if (COMMITMENTS.indexOf(decodeJson(reached) as string) < wanted) return
  yield `{"context":${memberOf(result, 'context') ?? 'null'},"value":{"err":${memberOf(status, 'err') ?? 'null'}}}`
}

function commitmentOf(config: Raw | undefined): number {
  const written = config?.charCodeAt(0) === 123 ? memberOf(config, 'commitment') : undefined
  const index = written == null ? -1 : COMMITMENTS.indexOf(decodeJson(written) as string)
  return index < 0 ? COMMITMENTS.length - 1 : index
}
