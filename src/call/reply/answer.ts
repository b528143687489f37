/** What a call comes to. */
import { encodeRefusal, encodeResult, replyHead } from '../../jsonrpc/raw.ts'
import { refuse } from '../../refusal/refusal.ts'
import type { CodeColumn, Refusal } from '../../refusal/refusal.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { OpenMember } from '../../jsonrpc/relay.ts'
import type { StreamedBody } from '../../routes/transport/streamed-body.ts'

/** A reply too long to hold back: its value streams to the client. */
export interface StreamAnswer {
  readonly kind: 'stream'
  readonly member: OpenMember['member']
  readonly body: StreamedBody
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

/** The reply of a verbatim HTTP upstream: its head has come, its body passes on as it comes. */
export interface VerbatimAnswer {
  readonly kind: 'verbatim'
  readonly status: number
  /** What of its headers goes on, as name, value, name, value. */
  readonly headers: readonly string[]
  readonly body: StreamedBody
  /** Whether the upstream says where its body ends, by length or by chunks. */
  readonly isFramed: boolean
  /** An event stream: it goes on until somebody leaves. */
  readonly endless: boolean
  /** The route that sends it. */
  readonly route: string
}

/** How a client wants its response written. */
export interface ReplyForm {
  /** Its own bytes. */
  readonly id: Raw
  /** Whether it speaks JSON-RPC 1.0. */
  readonly isVersion1?: boolean | undefined
}

/** The response object of an answer, under the client's own id. */
export function encodeAnswer(
  answer: WholeAnswer,
  { id, isVersion1 = false }: ReplyForm,
  column: CodeColumn,
  requestId: string,
): Raw {
  switch (answer.kind) {
    case 'result':
      return encodeResult(id, answer.result, isVersion1)
    case 'error':
      return `${replyHead('error', id, isVersion1)}${answer.error}}`
    case 'abandoned':
      return encodeRefusal(refuse('upstream_error'), id, column, requestId, isVersion1)
    case 'refused':
      return encodeRefusal(answer.refusal, id, column, requestId, isVersion1)
  }
}

/** The same in parts that follow each other. A long value stands by itself, as it came: to join it would be to copy it. */
export function encodeParts(
  answer: WholeAnswer,
  form: ReplyForm,
  column: CodeColumn,
  requestId: string,
): readonly [Raw, ...Raw[]] {
  const { id, isVersion1 = false } = form
  switch (answer.kind) {
    case 'result':
      return [replyHead('result', id, isVersion1), answer.result, '}']
    case 'error':
      return [replyHead('error', id, isVersion1), answer.error, '}']
    default:
      return [encodeAnswer(answer, form, column, requestId)]
  }
}

/** A refusal as an answer. */
export function refused(refusal: Refusal): WholeAnswer {
  return { kind: 'refused', refusal }
}
