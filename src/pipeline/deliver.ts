/** Handles a message: scans it, walks each call down the line, and gives the sink its reply. */
import type { BadCall, Call } from '../jsonrpc/call.ts'
import { scanMessage } from '../jsonrpc/message.ts'
import { statusOf } from '../jsonrpc/refusal.ts'
import { encodeAnswer, encodeParts } from './answer.ts'
import type { WholeAnswer } from './answer.ts'
import { deliverBatch } from './batch.ts'
import { columnOf } from './caller.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import { finish } from './finish.ts'
import { LONG, LongReply } from './long-reply.ts'
import { pass } from './pass.ts'
import { refuseMessage } from './refuse-message.ts'
import type { Sink } from './sink.ts'
import type { Soon } from './soon.ts'
import { deliverStream } from './stream.ts'

/** Handles the bytes of one message of an authenticated caller. */
export function deliver(body: Buffer, caller: Caller, sink: Sink, context: Context): Soon<void> {
  const message = scanMessage(body, context.snapshot.gateway.limits.depth)
  switch (message.kind) {
    case 'refused':
      refuseMessage(message.refusal, caller, sink, context)
      return
    case 'single':
      return deliverSingle(message.item, caller, sink, context)
    case 'batch':
      return deliverBatch(message.items, caller, sink, context)
  }
}

function deliverSingle(item: Call | BadCall, caller: Caller, sink: Sink, context: Context): Soon<void> {
  const begin = performance.now()
  const { limits } = context.snapshot.gateway
  const mode = sink.streams
    ? ({ stream: true, maxBytes: limits.response, holder: context.holder } as const)
    : ({ stream: false, maxBytes: limits.wsReply, holder: context.holder } as const)
  return pass(item, caller, mode, context, passed => {
    const { answer } = passed
    if (answer.kind === 'stream')
      return deliverStream(answer, item.id, sink).then(streamed => {
        finish(passed, caller, { ...streamed, totalMs: performance.now() - begin }, context)
      })
    const bytesOut = deliverWhole(answer, item, caller, sink, context)
    finish(passed, caller, { bytesOut, cut: false, totalMs: performance.now() - begin }, context)
  })
}

/** Returns the bytes of the reply; a notification has none. */
function deliverWhole(
  answer: WholeAnswer,
  { id }: Call | BadCall,
  caller: Caller,
  sink: Sink,
  context: Context,
): number {
  if (id === undefined) {
    sink.empty()
    return 0
  }
  const column = columnOf(caller.network)
  const body = encodeAnswer(answer, id, column, context.requestId)
  const refusal = answer.kind === 'refused' ? answer.refusal : null
  const status = refusal === null ? 200 : statusOf(refusal, column)
  // Where a reply may stream, what is long does.
  if (sink.streams || body.length <= LONG) sink.whole(status, body, refusal)
  else {
    const parts = encodeParts(answer, id, column, context.requestId)
    void sink.long(status, new LongReply(parts.map(raw => ({ raw }))), refusal)
  }
  return body.length
}
