/** A batch: each call runs by itself; the answers go out in order, each once, as one array. */
import type { BadCall, Call } from '../jsonrpc/message.ts'
import { MAX_BATCH } from '../jsonrpc/message.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import { isRefusal, refuse, statusOf } from '../refusal/refusal.ts'
import type { CodeColumn, Refusal } from '../refusal/refusal.ts'
import { encodeAnswer, encodeParts, refused } from './reply/answer.ts'
import type { Answer, WholeAnswer } from './reply/answer.ts'
import { refuseMessage } from './refuse-message.ts'
import { askedBy, run } from './run.ts'
import { columnOf } from './caller.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import { execute } from './execute.ts'
import { inOrder } from './in-order.ts'
import { LONG, LongText } from '../jsonrpc/long-text.ts'
import type { Part } from '../jsonrpc/long-text.ts'
import { ReplyShare } from './reply/reply-share.ts'
import type { ItemShare } from './reply/reply-share.ts'
import type { Sent } from './settle.ts'
import type { Sink } from './reply/sink.ts'

/** What became of one item. */
interface Done {
  /** Undefined for a notification, which gets no reply. */
  readonly id: Raw | undefined
  readonly isVersion1?: boolean | undefined
  readonly answer: WholeAnswer
  /** What `answer` says under this id. */
  readonly text: Raw | undefined
  /** Holds the text. */
  readonly holder: ItemShare
}

/** Handles a batch of at least one item. */
export function runBatch(
  items: readonly (Call | BadCall)[],
  caller: Caller,
  sink: Sink,
  context: Context,
): MaybePromise<void> {
  const most = Math.min(caller.plan.maxBatch, MAX_BATCH)
  const tooLarge = refuse('batch_too_large', `A batch holds at most ${most} calls`, { maxBatch: most })
  if (items.length > MAX_BATCH) {
    refuseMessage(tooLarge, caller, sink, context, 413)
    return
  }
  return runItems(items, items.length > most ? tooLarge : null, caller, sink, context)
}

async function runItems(
  items: readonly (Call | BadCall)[],
  tooLarge: Refusal | null,
  caller: Caller,
  sink: Sink,
  context: Context,
): Promise<void> {
  const { batchReply, wsReply } = context.snapshot.gateway.limits
  const begun = context.snapshot.gateway.tracing === null ? 0 : context.live.clock.monotonic()
  const share = new ReplyShare(sink.streams ? batchReply : Math.min(batchReply, wsReply), context.holder)
  const gather = { hold: () => share.open(), departure: context.departure, gather: null }
  const done: Done[] = []
  const runs: Promise<void>[] = []
  let announce = (): void => undefined
  const left = new Promise<void>(resolve => (announce = resolve))
  const begin = (item: Call | BadCall, index: number, answered: () => void): MaybePromise<void> => {
    const holder = share.open()
    const mode = { stream: false, maxBytes: share.left, holder, cached: null, gather } as const
    const reply = (answer: Answer): MaybePromise<Sent> => {
      const said = encodeItem(answer, item, caller, context, holder)
      done[index] = said
      answered()
      const sent = { bytesOut: said.text?.length ?? 0, cut: false, instead: said.answer }
      // What an answer promises begins with its settlement, so the reply goes first. A refusal promises nothing.
      return said.answer.kind === 'refused' ? sent : left.then(() => sent)
    }
    const now = context.renew()
    const denied = tooLarge ?? (isRefusal(now) ? now : null)
    const by = isRefusal(now) ? caller : now
    const over = run<Answer>(denied ?? askedBy(item, by, context), by, context, {
      execute: (decided, trail) => execute(decided, by, mode, context, trail),
      reply,
      index,
    })
    if (over instanceof Promise) runs.push(over)
    return over
  }
  const later = (goOn: () => void): void => {
    sink.later(goOn)
  }
  const { departure } = sink
  const isOver = (): boolean => departure?.isOver === true
  await inOrder(items, { begin, later, isOver })
  const sent = isOver() ? undefined : send(done, share.held > LONG, caller, sink, context)
  announce()
  await Promise.all(runs)
  await sent
  context.trace?.exportBatch(begun, items.length)
}

/** The text of an item's answer, or of a refusal in its place when the batch's reply has no room for it. */
function encodeItem(
  answer: Answer,
  { id, isVersion1 }: Call | BadCall,
  caller: Caller,
  context: Context,
  holder: ItemShare,
): Done {
  if (answer.kind === 'stream') throw new Error('a batch never streams')
  if (id === undefined) {
    holder.settle(0)
    return { id, text: undefined, answer, holder }
  }
  const column = columnOf(caller.network)
  const form = { id, isVersion1 }
  const text = encodeAnswer(answer, form, column, context.requestId)
  if (holder.settle(text.length) || answer.kind === 'refused') return { id, isVersion1, text, answer, holder }
  const large = refused(refuse('response_too_large'))
  return { id, isVersion1, text: encodeAnswer(large, form, column, context.requestId), answer: large, holder }
}

function send(
  done: readonly Done[],
  isLong: boolean,
  caller: Caller,
  sink: Sink,
  context: Context,
): MaybePromise<void> {
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
function longReply(done: readonly Done[], column: CodeColumn, requestId: string): LongText {
  const parts: Part[] = []
  for (const { id, isVersion1, answer, holder } of done) {
    if (id === undefined) continue
    parts.push({ raw: parts.length === 0 ? '[' : ',' })
    for (const raw of encodeParts(answer, { id, isVersion1 }, column, requestId)) parts.push({ raw })
    const left = (): void => {
      holder.release()
    }
    parts.push({ raw: '', left })
  }
  parts.push({ raw: ']' })
  return new LongText(parts)
}

/** The refusal of all items, when every one was refused for one and the same reason. */
function commonRefusal(done: readonly Done[]): Refusal | null {
  const first = refusalOf(done[0])
  return first !== null && done.every(each => refusalOf(each)?.reason === first.reason) ? first : null
}

function refusalOf(done: Done | undefined): Refusal | null {
  return done?.answer.kind === 'refused' ? done.answer.refusal : null
}
