/** What a call comes to. */
import { encodeRefusal, encodeResult, refuse } from '../jsonrpc/refusal.ts'
import type { CodeColumn, Refusal } from '../jsonrpc/refusal.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { OpenMember } from '../jsonrpc/relay.ts'
import type { Readable } from 'node:stream'

/** A reply too long to hold back: its value streams to the client. */
export interface StreamAnswer extends OpenMember {
  readonly kind: 'stream'
  readonly head: Buffer
  readonly tail: Readable
  /** The id under which the call went upstream. */
  readonly sentAs: number
}

/** An answer that is all here. */
export type WholeAnswer =
  | {
      readonly kind: 'result'
      readonly result: Raw
      /** Told once whether the result reached the transport: what it promises begins then, or is undone. */
      readonly delivered?: (sent: boolean) => void
    }
  /** The error object of a node, or of a `service_*` method. */
  | { readonly kind: 'error'; readonly error: Raw }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The client left while a node was at work: charged, and said to nobody. */
  | { readonly kind: 'abandoned' }

export type Answer = WholeAnswer | StreamAnswer

/** The response object of an answer, under the client's own id. */
export function encodeAnswer(answer: WholeAnswer, id: Raw, column: CodeColumn, requestId: string): Raw {
  switch (answer.kind) {
    case 'result':
      return encodeResult(id, answer.result)
    case 'error':
      return `{"jsonrpc":"2.0","id":${id},"error":${answer.error}}`
    case 'abandoned':
      return encodeRefusal(refuse('upstream_error'), id, column, requestId)
    case 'refused':
      return encodeRefusal(answer.refusal, id, column, requestId)
  }
}

/** A refusal as an answer. */
export function refused(refusal: Refusal): WholeAnswer {
  return { kind: 'refused', refusal }
}
