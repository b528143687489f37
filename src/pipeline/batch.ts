/** A batch: each call walks the line by itself; the answers come back in order, each once, as one array. */
import type { BadCall, Call } from '../jsonrpc/call.ts'
import { MAX_BATCH } from '../jsonrpc/message.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import { refuse, statusOf } from '../jsonrpc/refusal.ts'
import type { Refusal } from '../jsonrpc/refusal.ts'
import { encodeAnswer, refused } from './answer.ts'
import { columnOf } from './caller.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import { finish } from './finish.ts'
import type { Passed } from './line.ts'
import { pass, passRefusal } from './pass.ts'
import { refuseMessage } from './refuse-message.ts'
import { ReplyShare } from './reply-share.ts'
import type { Sink } from './sink.ts'
import type { Soon } from './soon.ts'

/** Calls of one batch that are in flight at a time. */
const IN_FLIGHT = 32

/** What became of one item. */
interface Done {
  /** Undefined for a notification. */
  readonly text: Raw | undefined
  readonly refusal: Refusal | null
  /** Settles and observes the item. What its answer promises begins with that, so the reply goes first. */
  readonly end: () => void
}

/** Handles a batch of at least one item. */
export async function deliverBatch(
  items: readonly (Call | BadCall)[],
  caller: Caller,
  sink: Sink,
  context: Context,
): Promise<void> {
  const most = Math.min(caller.plan.maxBatch, MAX_BATCH)
  const tooLarge = refuse('batch_too_large', `A batch holds at most ${most} calls`, { maxBatch: most })
  if (items.length > MAX_BATCH) {
    refuseMessage(tooLarge, caller, sink, context, 413)
    return
  }
  const { batchReply, wsReply } = context.snapshot.gateway.limits
  const share = new ReplyShare(sink.streams ? batchReply : Math.min(batchReply, wsReply), context.holder)
  const done = await inOrder(items, (item): Soon<Done> => {
    const begin = performance.now()
    const holder = share.open()
    const mode = { stream: false, maxBytes: share.left, holder } as const
    const conclude = (passed: Passed): Done => {
      const { text, fitted } = encodeItem(passed, item, caller, context, bytes => holder.settle(bytes))
      const totalMs = performance.now() - begin
      const end = (): void => {
        finish(fitted, caller, { bytesOut: text?.length ?? 0, cut: false, totalMs }, context)
      }
      return { text, refusal: fitted.answer.kind === 'refused' ? fitted.answer.refusal : null, end }
    }
    return items.length > most ? conclude(passRefusal(tooLarge)) : pass(item, caller, mode, context, conclude)
  })
  reply(done, caller, sink)
  for (const { end } of done) end()
}

/** The text of an item's answer, or of a refusal in its place when the batch's reply does not `fit` it. */
function encodeItem(
  passed: Passed,
  { id }: Call | BadCall,
  caller: Caller,
  context: Context,
  fits: (bytes: number) => boolean,
): { readonly text: Raw | undefined; readonly fitted: Passed } {
  const column = columnOf(caller.network)
  const { answer } = passed
  if (answer.kind === 'stream') throw new Error('a batch never streams')
  if (id === undefined) {
    fits(0)
    return { text: undefined, fitted: passed }
  }
  const text = encodeAnswer(answer, id, column, context.requestId)
  if (fits(text.length) || answer.kind === 'refused') return { text, fitted: passed }
  const large = refused(refuse('response_too_large'))
  return { text: encodeAnswer(large, id, column, context.requestId), fitted: { ...passed, answer: large } }
}

/** Runs `work` over the items, a bounded number at a time; results come in the items' order. */
async function inOrder<T, R>(items: readonly T[], work: (item: T) => Soon<R>): Promise<R[]> {
  const results: R[] = []
  const waiting = items.entries()
  const worker = async (): Promise<void> => {
    for (const [index, item] of waiting) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, items.length) }, worker))
  return results
}

function reply(done: readonly Done[], caller: Caller, sink: Sink): void {
  const texts = done.flatMap(({ text }) => (text === undefined ? [] : [text]))
  if (texts.length === 0) {
    sink.empty()
    return
  }
  const refusal = commonRefusal(done)
  sink.whole(
    refusal === null ? 200 : statusOf(refusal, columnOf(caller.network)),
    `[${texts.join(',')}]`,
    refusal,
  )
}

/** The refusal of all items, when every one was refused for one and the same reason. */
function commonRefusal(done: readonly Done[]): Refusal | null {
  const first = done[0]?.refusal ?? null
  return first !== null && done.every(({ refusal }) => refusal?.reason === first.reason) ? first : null
}
