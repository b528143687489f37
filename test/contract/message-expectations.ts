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
  t.strictSame(
    sent.map(({ method, params }) => ({ method, params })),
    expected,
    'what reached the node',
  )
  const cost = expect.kind === 'refusal' ? 0 : expect.cost
  t.equal(seen.requests, cost + extra, 'units charged')
  t.equal(seen.calls, (cost > 0 ? 1 : 0) + extra, 'calls charged')
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
