import type { Test } from 'tap'
import type { Observed } from '../support/observe.ts'
import { rawMembers } from '../support/raw-json.ts'
import { refusedItem } from '../support/refusals.ts'
import type { MessageCase } from './message-cases.ts'

/** Calls that stand around a case in a batch: the node answers each with its name. */
export const siblings = { evm: 'eth_maxPriorityFeePerGas', solana: 'getClusterNodes' } as const
/** One of them as text. */
export const sibling = (family: MessageCase['family'], id: string): string =>
  `{"jsonrpc":"2.0","id":"${id}","method":"${siblings[family]}","params":[]}`

/** Holds what reached the node and what was charged against a case. */
export function holdTraces(
  t: Test,
  seen: Observed<unknown>,
  { family, expect }: MessageCase,
  extra = 0,
): void {
  const sent = seen.sent.filter(({ method }) => method !== siblings[family])
  const expected = expect.kind === 'refusal' || expect.sent === null ? [] : [expect.sent]
  const cost = expect.kind === 'refusal' ? 0 : expect.cost
  t.strictSame(
    { sent: sent.map(({ method, params }) => ({ method, params })), units: seen.requests, calls: seen.calls },
    { sent: expected, units: cost + extra, calls: (cost > 0 ? 1 : 0) + extra },
    'what reached the node and what was charged',
  )
}

/** Holds the reply to a case between two of its siblings against the case. */
export function holdBetween(t: Test, texts: readonly string[], one: MessageCase): void {
  const [left, right] = [texts[0], texts.at(-1)].map(text => JSON.parse(text ?? 'null') as unknown)
  const items = texts.slice(1, -1)
  t.strictSame(
    [left, items.length, right],
    [
      { jsonrpc: '2.0', id: 'left', result: 'sibling' },
      one.expect.kind === 'silence' ? 0 : 1,
      { jsonrpc: '2.0', id: 'right', result: 'sibling' },
    ],
    'the siblings, and how many items between',
  )
  for (const item of items) holdReply(t, item, one)
}

/** Holds one reply object against a case. */
export function holdReply(t: Test, text: string, { expect, family }: MessageCase): void {
  if (expect.kind === 'refusal') return void refusedItem(t, text, { family, ...expect })
  if (expect.kind === 'silence') return void t.fail(`should not be answered: ${text}`)
  t.strictSame(
    rawMembers(text).sort(([a], [b]) => (a < b ? -1 : 1)),
    [
      ['id', expect.id],
      ['jsonrpc', '"2.0"'],
      [expect.member, expect.raw],
    ].sort(([a], [b]) => (a! < b! ? -1 : 1)),
    'members of the reply, raw',
  )
}
