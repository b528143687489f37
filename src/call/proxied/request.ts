/** A request to a proxied path: runs as a JSON-RPC call does, then sends the upstream's reply on as it comes. */
import { NO_ELEMENTS } from '../../jsonrpc/elements.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import { statusOf } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import { encodeAnswer, refused } from '../reply/answer.ts'
import type { VerbatimAnswer, WholeAnswer } from '../reply/answer.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { run } from '../run.ts'
import type { Sent } from '../settle.ts'
import { leaveWith } from '../reply/stream.ts'
import { forwardVerbatim } from './forward.ts'
import type { VerbatimSink } from './sink.ts'

/** Handles one request of an authenticated caller; `method` is its verb and path, as rules name it. */
export function handleRequest(
  method: string,
  caller: Caller,
  sink: VerbatimSink,
  context: Context,
): MaybePromise<void> {
  const call = { id: 'null', method, params: '[]', elements: NO_ELEMENTS }
  return run<VerbatimAnswer | WholeAnswer>(call, caller, context, {
    execute: async (decided, trail) => {
      context.endsWhenDenied = sink.proxied.verb === 'GET' || sink.proxied.verb === 'HEAD'
      return held(await forwardVerbatim(decided, trail, sink.proxied, caller, context), sink, context)
    },
    reply: answer =>
      answer.kind === 'verbatim' ? relay(answer, sink, context) : sendWhole(answer, sink, context),
  })
}

/** A reply without an end takes one of the caller's connections before anything of it is charged for good; who holds it ends it from then on. */
function held(
  answer: VerbatimAnswer | WholeAnswer,
  sink: VerbatimSink,
  context: Context,
): MaybePromise<VerbatimAnswer | WholeAnswer> {
  if (answer.kind !== 'verbatim' || !answer.endless) return answer
  const settle = (refusal: Refusal | null): VerbatimAnswer | WholeAnswer => {
    if (refusal !== null) {
      answer.body.destroy()
      return refused(refusal)
    }
    context.endsWhenDenied = false
    return answer
  }
  const holding = sink.hold(answer)
  return holding instanceof Promise ? holding.then(settle) : settle(holding)
}

/** A stream without an end says nothing about how long calls take; the body of another is its upstream's time. */
async function relay(
  answer: VerbatimAnswer,
  sink: VerbatimSink,
  { live: { clock }, snapshot }: Context,
): Promise<Sent> {
  const begin = clock.monotonic()
  const sent = await relayBody(answer, sink, snapshot.gateway.limits.response)
  const endedAt = answer.endless ? begin : clock.monotonic()
  return { ...sent, endedAt, upstreamMs: endedAt - begin }
}

async function relayBody(
  answer: VerbatimAnswer,
  sink: VerbatimSink,
  most: number | null,
): Promise<Pick<Sent, 'bytesOut' | 'cut' | 'cutByNode'>> {
  let bytesOut = 0
  leaveWith(sink, answer.body)
  try {
    sink.beginVerbatim(answer)
    for await (const piece of answer.body) {
      bytesOut += piece.length
      if (most !== null && !answer.endless && bytesOut > most) throw new Error('the reply is too large')
      if (!(await sink.write(piece))) throw new Error('the client is gone')
    }
  } catch {
    answer.body.destroy()
    // A clean end would tell the client that it has everything.
    if (sink.stopped) sink.end()
    else sink.cut()
    return { bytesOut, cut: !sink.stopped, cutByNode: answer.body.isBrokenOff }
  }
  sink.end()
  return { bytesOut, cut: false }
}

function sendWhole(answer: WholeAnswer, sink: VerbatimSink, context: Context): Sent {
  if (answer.kind === 'abandoned') return { bytesOut: 0, cut: false }
  const body = encodeAnswer(answer, { id: 'null' }, 'path', context.requestId)
  const refusal = answer.kind === 'refused' ? answer.refusal : null
  sink.whole(refusal === null ? 200 : statusOf(refusal, 'path'), body, refusal)
  return { bytesOut: body.length, cut: false }
}
