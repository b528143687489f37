/** Handles a verbatim request: the same line as a JSON-RPC call, then the upstream's reply as it comes. */
import { encodeAnswer, refused } from '../answer.ts'
import type { VerbatimAnswer, WholeAnswer } from '../answer.ts'
import { NO_ELEMENTS } from '../../jsonrpc/elements.ts'
import { statusOf } from '../../jsonrpc/refusal.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { finish, seal } from '../finish.ts'
import type { Delivered } from '../finish.ts'
import { walk } from '../line.ts'
import type { Passed } from '../line.ts'
import { forwardVerbatim } from './forward.ts'
import { leaveWith } from '../stream.ts'
import type { VerbatimSink } from './sink.ts'

/** Handles one request of an authenticated caller; `method` is its verb and path, as rules name it. */
export async function deliverVerbatim(
  method: string,
  caller: Caller,
  sink: VerbatimSink,
  context: Context,
): Promise<void> {
  const begin = performance.now()
  const call = { id: 'null', method, params: '[]', elements: NO_ELEMENTS }
  const walked = await walk(call, caller, context, decided =>
    forwardVerbatim(decided, sink.passage, caller, context),
  )
  const passed = await seal(held(walked, sink), caller, context, over => over)
  const { answer } = passed
  const untilHead = performance.now() - begin
  if (answer.kind === 'verbatim') {
    const streamed = await relay(answer, sink, context.snapshot.gateway.limits.response)
    // A stream without an end says nothing about how long calls take, and its body is the upstream's time.
    const totalMs = answer.endless ? untilHead : performance.now() - begin
    const upstreamMs = passed.upstreamMs + totalMs - untilHead
    finish({ ...passed, upstreamMs }, caller, { ...streamed, totalMs }, context)
    return
  }
  const bytesOut = deliverWhole(answer, sink, context)
  finish({ ...passed, answer }, caller, { bytesOut, cut: false, totalMs: untilHead }, context)
}

type Answers = VerbatimAnswer | WholeAnswer

/** A reply without an end takes one of the caller's connections before anything of it is charged for good. */
function held(passed: Passed<Answers>, sink: VerbatimSink): Passed<Answers> {
  const { answer } = passed
  const refusal = answer.kind === 'verbatim' && answer.endless ? sink.hold(answer) : null
  if (refusal === null) return passed
  if (answer.kind === 'verbatim') answer.body.destroy()
  return { ...passed, answer: refused(refusal) }
}

async function relay(
  answer: VerbatimAnswer,
  sink: VerbatimSink,
  most: number | null,
): Promise<Omit<Delivered, 'totalMs'>> {
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

function deliverWhole(answer: WholeAnswer, sink: VerbatimSink, context: Context): number {
  if (answer.kind === 'abandoned') return 0
  const body = encodeAnswer(answer, 'null', 'path', context.requestId)
  const refusal = answer.kind === 'refused' ? answer.refusal : null
  sink.whole(refusal === null ? 200 : statusOf(refusal, 'path'), body, refusal)
  return body.length
}
