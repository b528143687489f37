/** A batch: each call walks the line by itself; the answers come back in order, each once, as one array. */
import type { BadCall, Call } from '../jsonrpc/call.ts'
import { MAX_BATCH } from '../jsonrpc/message.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import { refuse, statusOf } from '../jsonrpc/refusal.ts'
import type { CodeColumn, Refusal } from '../jsonrpc/refusal.ts'
import { encodeAnswer, encodeParts, refused } from './answer.ts'
import type { WholeAnswer } from './answer.ts'
import { columnOf } from './caller.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import { finish } from './finish.ts'
import { inOrder } from './in-order.ts'
import { LONG, LongReply } from './long-reply.ts'
import type { Part } from './long-reply.ts'
import type { Passed } from './line.ts'
import { pass, passRefusal } from './pass.ts'
import { refuseMessage } from './refuse-message.ts'
import { ReplyShare } from './reply-share.ts'
import type { ItemShare } from './reply-share.ts'
import type { Sink } from './sink.ts'
import type { Soon } from './soon.ts'

/** What became of one item. */
interface Done {
  /** Undefined for a notification, which gets no reply. */
  readonly id: Raw | undefined
  readonly answer: WholeAnswer
  /** What `answer` says under this id. */
  readonly text: Raw | undefined
  /** Holds the text. */
  readonly holder: ItemShare
  /** Settles and observes the item. What its answer promises begins with that, so the reply goes first; null where it promises nothing. */
  readonly end: (() => void) | null
}

/** Handles a batch of at least one item. */
export function deliverBatch(
  items: readonly (Call | BadCall)[],
  caller: Caller,
  sink: Sink,
  context: Context,
): Soon<void> {
  const most = Math.min(caller.plan.maxBatch, MAX_BATCH)
  const tooLarge = refuse('batch_too_large', `A batch holds at most ${most} calls`, { maxBatch: most })
  if (items.length > MAX_BATCH) {
    refuseMessage(tooLarge, caller, sink, context, 413)
    return
  }
  const { batchReply, wsReply } = context.snapshot.gateway.limits
  const share = new ReplyShare(sink.streams ? batchReply : Math.min(batchReply, wsReply), context.holder)
  const work = (item: Call | BadCall): Soon<Done> => {
    const begin = performance.now()
    const holder = share.open()
    const mode = { stream: false, maxBytes: share.left, holder } as const
    const conclude = (passed: Passed): Done => {
      const { text, answer, fitted } = encodeItem(passed, item, caller, context, holder)
      const totalMs = performance.now() - begin
      const end = (): void => {
        finish(fitted, caller, { bytesOut: text?.length ?? 0, cut: false, totalMs }, context)
      }
      if (answer.kind === 'refused') end()
      return { id: item.id, answer, text, holder, end: answer.kind === 'refused' ? null : end }
    }
    return items.length > most ? conclude(passRefusal(tooLarge)) : pass(item, caller, mode, context, conclude)
  }
  const later = (goOn: () => void): void => {
    sink.later(goOn)
  }
  const end = (done: readonly Done[]): Soon<void> => {
    const sent = reply(done, share.held > LONG, caller, sink, context)
    for (const { end } of done) end?.()
    // Nothing here keeps the texts while they leave.
    return sent
  }
  return inOrder(items, { work, later, end })
}

/** The text of an item's answer, or of a refusal in its place when the batch's reply has no room for it. */
function encodeItem(
  passed: Passed,
  { id }: Call | BadCall,
  caller: Caller,
  context: Context,
  holder: ItemShare,
): { readonly text: Raw | undefined; readonly answer: WholeAnswer; readonly fitted: Passed } {
  const column = columnOf(caller.network)
  const { answer } = passed
  if (answer.kind === 'stream') throw new Error('a batch never streams')
  if (id === undefined) {
    holder.settle(0)
    return { text: undefined, answer, fitted: passed }
  }
  const text = encodeAnswer(answer, id, column, context.requestId)
  if (holder.settle(text.length) || answer.kind === 'refused') return { text, answer, fitted: passed }
  const large = refused(refuse('response_too_large'))
  const fitted = { ...passed, answer: large }
  return { text: encodeAnswer(large, id, column, context.requestId), answer: large, fitted }
}

function reply(
  done: readonly Done[],
  isLong: boolean,
  caller: Caller,
  sink: Sink,
  context: Context,
): Soon<void> {
  const texts = done.flatMap(({ text }) => (text === undefined ? [] : [text]))
  if (texts.length === 0) {
    sink.empty()
    return
  }
  const column = columnOf(caller.network)
  const refusal = commonRefusal(done)
  const status = refusal === null ? 200 : statusOf(refusal, column)
  if (isLong) return sink.long(status, longReply(done, column, context.requestId), refusal)
  sink.whole(status, `[${texts.join(',')}]`, refusal)
}

/** The same texts, neither joined nor held until the last of them has left. */
function longReply(done: readonly Done[], column: CodeColumn, requestId: string): LongReply {
  const parts: Part[] = []
  for (const { id, answer, holder } of done) {
    if (id === undefined) continue
    parts.push({ raw: parts.length === 0 ? '[' : ',' })
    for (const raw of encodeParts(answer, id, column, requestId)) parts.push({ raw })
    const left = (): void => {
      holder.release()
    }
    parts.push({ raw: '', left })
  }
  parts.push({ raw: ']' })
  return new LongReply(parts)
}

/** The refusal of all items, when every one was refused for one and the same reason. */
function commonRefusal(done: readonly Done[]): Refusal | null {
  const first = refusalOf(done[0])
  return first !== null && done.every(each => refusalOf(each)?.reason === first.reason) ? first : null
}

function refusalOf(done: Done | undefined): Refusal | null {
  return done?.answer.kind === 'refused' ? done.answer.refusal : null
}
