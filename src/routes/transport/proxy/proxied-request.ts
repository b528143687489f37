/** A client's request on its way through to an upstream, and what came back. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Refusal } from '../../../refusal/refusal.ts'
import type { StreamedBody } from '../streamed-body.ts'

/** What passes through. */
export interface ProxiedRequest {
  readonly request: IncomingMessage
  /** Closed when the client leaves. */
  readonly response: ServerResponse
  readonly verb: string
  /** Path and query below the route's URL. */
  readonly target: string
  /** Most bytes of the body; null where there is none. */
  readonly bodyLimit: number | null
  /** Why its caller may no longer be served; null while it may. Called for each part of the body, and at its end. */
  readonly refusal: () => Refusal | null
}

/** How an exchange failed before a reply. */
export interface ExchangeFailure {
  readonly kind: 'failure'
  readonly how: 'unreachable' | 'reset' | 'timeout' | 'garbage' | 'aborted' | 'body_too_large' | 'denied'
  /** Why it could not be reached, for operators. */
  readonly cause?: string | null
  /** Where the caller was denied while its body arrived. */
  readonly refusal?: Refusal
  /** Whether the upstream may have seen the request. */
  readonly sent: boolean
}

/** The head of an upstream's reply; its body waits to be read. */
export interface ReplyHead {
  readonly kind: 'head'
  readonly status: number
  /** What of its headers goes to the client, as name, value, name, value. */
  readonly headers: readonly string[]
  /** Whether the reply has no end of its own (HTML standard, "Server-sent events"). */
  readonly endless: boolean
  readonly reply: IncomingMessage
  readonly body: StreamedBody
}
