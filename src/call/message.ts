/** One message, the body of a POST or a text frame: runs the calls in it, and gives the sink their reply. */
import type { BadCall, Call } from '../jsonrpc/message.ts'
import { familyOf } from '../families/families.ts'
import { scanMessage } from '../jsonrpc/message.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import { statusOf } from '../refusal/refusal.ts'
import { encodeAnswer, encodeParts } from './reply/answer.ts'
import type { Answer, WholeAnswer } from './reply/answer.ts'
import { runBatch } from './batch.ts'
import { columnOf } from './caller.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import { execute } from './execute.ts'
import { LONG, LongText } from '../jsonrpc/long-text.ts'
import type { ReplyMode } from './node/request.ts'
import { run, askedBy } from './run.ts'
import type { Sent } from './settle.ts'
import type { Sink } from './reply/sink.ts'
import { sendStream } from './reply/stream.ts'
import { refuseMessage } from './refuse-message.ts'

/** Handles the bytes of one message of an authenticated caller. */
export function handleMessage(
  body: Buffer,
  caller: Caller,
  sink: Sink,
  context: Context,
): MaybePromise<void> {
  const { anyVersion } = familyOf(caller.network)
  const message = scanMessage(body, context.snapshot.gateway.limits.depth, anyVersion)
  switch (message.kind) {
    case 'refused':
      refuseMessage(message.refusal, caller, sink, context)
      return
    case 'single':
      return runSingle(message.item, caller, sink, context)
    case 'batch':
      return runBatch(message.items, caller, sink, context)
  }
}

function runSingle(item: Call | BadCall, caller: Caller, sink: Sink, context: Context): MaybePromise<void> {
  const { limits, cache } = context.snapshot.gateway
  const { holder } = context
  const cached = cache?.header === true ? (status: 'hit' | 'miss') => sink.cached?.(status) : null
  const mode: ReplyMode = sink.streams
    ? { stream: true, maxBytes: limits.response, holder, cached, gather: null }
    : { stream: false, maxBytes: limits.wsReply, holder, cached, gather: null }
  return run<Answer>(askedBy(item, caller, context), caller, context, {
    execute: (decided, trail) => execute(decided, caller, mode, context, trail),
    reply: answer =>
      answer.kind === 'stream'
        ? sendStream(answer, item, sink)
        : sendWhole(answer, item, caller, sink, context),
  })
}

/** Sends the reply; a notification has none. */
function sendWhole(
  answer: WholeAnswer,
  { id, isVersion1 }: Call | BadCall,
  caller: Caller,
  sink: Sink,
  context: Context,
): Sent {
  if (id === undefined) {
    sink.empty()
    return { bytesOut: 0, cut: false }
  }
  const column = columnOf(caller.network)
  const form = { id, isVersion1 }
  const body = encodeAnswer(answer, form, column, context.requestId)
  const refusal = answer.kind === 'refused' ? answer.refusal : null
  const status = refusal === null ? 200 : statusOf(refusal, column)
  // Where a reply may stream, what is long does.
  if (sink.streams || body.length <= LONG) sink.whole(status, body, refusal)
  else {
    const parts = encodeParts(answer, form, column, context.requestId)
    void sink.long(status, new LongText(parts.map(raw => ({ raw }))), refusal)
  }
  return { bytesOut: body.length, cut: false }
}
