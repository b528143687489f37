import t, { type Test } from 'tap'
import type { Answer } from '../../src/call/reply/answer.ts'
import { refused } from '../../src/call/reply/answer.ts'
import type { Caller } from '../../src/call/caller.ts'
import type { Context } from '../../src/call/context.ts'
import { run } from '../../src/call/run.ts'
import { scanMessage } from '../../src/jsonrpc/message.ts'
import type { Call } from '../../src/jsonrpc/message.ts'
import type { Charge } from '../../src/ports/journal.ts'
import type { Grant } from '../../src/ports/limits.ts'
import { refuse } from '../../src/refusal/refusal.ts'
import type { Refusal } from '../../src/refusal/refusal.ts'
import { snapshotOf } from '../support/snapshot.ts'
import { TestClock } from '../support/test-clock.ts'
import { Away } from '../../src/ports/store-unavailable.ts'

const methods = `
families:
  evm:
    eth_call: { block: { at: 1, kind: ref, omitted: latest }, reads: state, params: [1, 4], cost: 7 }
    eth_chainId: { answer: chainId, cost: 2 }
`
const result = { kind: 'result', result: '1' } as const

interface Scene {
  readonly asked?: string | Refusal
  readonly isPublic?: boolean
  readonly take?: (grant: Grant) => Grant | Refusal | Promise<Grant | Refusal>
  readonly answer?: () => Answer | Promise<Answer>
  readonly commit?: boolean | Promise<boolean>
  readonly isLost?: boolean
  readonly failure?: Error
  readonly manage?: () => Promise<{ readonly result: unknown } | null>
}

/** Runs one call; gives what was done for it, in order, and whether it ended in the turn that began it. */
async function runOnce(t: Test, scene: Scene = {}) {
  const { asked = 'eth_call', commit = true, isPublic = false } = scene
  const snapshot = await snapshotOf(t, { methods })
  const did: string[] = []
  const charge: Charge = {
    units: 7,
    isLost: scene.isLost ?? false,
    commit: () => (did.push('commit'), commit),
    giveBack: () => Promise.resolve(void did.push('charge back')),
    settle: ({ error, bytesOut }) => did.push(`settle ${error} ${bytesOut}`),
  }
  const clock = new TestClock()
  const live = {
    clock,
    heads: { best: () => null },
    upstreams: { firstKept: () => null },
    limits: {
      take: (_: unknown, { units }: { units: number }) => {
        const giveBack = (): void => void did.push('grant back')
        did.push(`take ${units}`)
        return (scene.take ?? (grant => grant))({ units, at: 0, period: 0, giveBack })
      },
      takeManagement: () => null,
    },
    journal: {
      failure: scene.failure ?? null,
      charge: (_: unknown, method: string, units: number) => (did.push(`charge ${method} ${units}`), charge),
      refused: (_: unknown, method: string, reason: string) => did.push(`refused ${method} ${reason}`),
    },
    management: {
      methods: { has: (method: string) => method.startsWith('service_') },
      answer: scene.manage ?? (() => Promise.resolve({ result: 'managed' })),
    },
    observer: {
      call: ({ outcome, requests, upstreamMs }: { outcome: string; requests: number; upstreamMs: number }) =>
        did.push(`observe ${outcome} ${requests} ${upstreamMs}`),
      bug: (error: unknown) => did.push(`bug ${(error as Error).message}`),
    },
  }
  const plan = snapshot.plans['free']
  const payer = { account: { id: 'acc' }, endpoint: { id: 'ep', management: true }, plan }
  const caller = {
    network: snapshot.networks['eth'],
    plan,
    transport: 'http',
    session: null,
    payer: isPublic ? null : payer,
    visitor: { address: '192.0.2.1' },
  } as unknown as Caller
  const over = run<Answer>(
    typeof asked === 'string' ? callOf(asked) : asked,
    caller,
    { snapshot, live, requestId: 'r' } as unknown as Context,
    {
      execute: () => {
        did.push('execute')
        clock.advance(5)
        return (scene.answer ?? (() => result))()
      },
      reply: answer => {
        did.push(`reply ${answer.kind === 'refused' ? answer.refusal.reason : answer.kind}`)
        return { bytesOut: 10, cut: false }
      },
    },
  )
  await over
  return { did, isAtOnce: !(over instanceof Promise) }
}
function callOf(method: string): Call {
  const message = scanMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":[{}]}`), 64)
  if (message.kind !== 'single') throw new Error(message.kind)
  return message.item as Call
}
const before = ['take 7', 'charge eth_call 7', 'execute']
const refusing = (reason: Refusal['reason']): Answer => refused(refuse(reason))

t.test('decide, take, charge, execute, commit, reply, settle', async t => {
  const order = [...before, 'commit', 'reply result', 'settle false 10', 'observe ok 7 5']
  t.strictSame((await runOnce(t)).did, order)
  const slow = {
    take: (grant: Grant) => Promise.resolve(grant),
    answer: () => Promise.resolve(result),
    commit: Promise.resolve(true),
  }
  t.strictSame((await runOnce(t, slow)).did, order, 'also where all of them have to wait')
  const local = await runOnce(t, { asked: 'eth_chainId' })
  t.match(local.did, ['take 2', 'charge eth_chainId 2', 'execute', 'commit', 'reply result'])
  t.equal(local.did.at(-1), 'observe ok 7 0', 'no time of a node')
})

t.test('what is refused before money moves ends in the turn that began it, and costs nothing', async t => {
  const failure = new Error('no disk')
  const cases: [Scene, string[]][] = [
    [{ asked: refuse('invalid_request') }, ['reply invalid_request', 'refused other invalid_request']],
    [{ asked: 'nope' }, ['reply method_not_found', 'refused other method_not_found']],
    [{ failure }, ['reply journal_unavailable', 'refused eth_call journal_unavailable']],
    [{ isPublic: true, asked: 'nope' }, ['reply method_not_found']],
  ]
  for (const [scene, did] of cases)
    t.strictSame(await runOnce(t, scene), { did: [...did, 'observe refused 0 0'], isAtOnce: true })
})

t.test('what the limits refuse is neither charged nor executed', async t => {
  for (const answer of [(one: Refusal) => one, (one: Refusal) => Promise.resolve(one)])
    t.strictSame((await runOnce(t, { take: () => answer(refuse('rate_limited')) })).did, [
      'take 7',
      'reply rate_limited',
      'refused eth_call rate_limited',
      'observe refused 0 0',
    ])
})

t.test('a call that is refused after all gives everything back, unless it made a node work', async t => {
  const back = ['grant back', 'charge back', 'reply no_route', 'refused eth_call no_route']
  t.strictSame((await runOnce(t, { answer: () => refusing('no_route') })).did, [
    ...before,
    ...back,
    'observe refused 0 5',
  ])
  const lost = await runOnce(t, { answer: () => refusing('no_route'), isLost: true })
  t.ok(lost.did.includes('grant back'), 'a charge that was never on disk is not given back there')
  const billed = await runOnce(t, { answer: () => refusing('response_too_large') })
  t.strictSame(billed.did.slice(3), [
    'commit',
    'reply response_too_large',
    'settle false 10',
    'refused eth_call response_too_large',
    'observe refused 7 5',
  ])
})

t.test('what throws is a bug: `internal` for the client, and nothing to pay', async t => {
  const boom = (): never => {
    throw new Error('boom')
  }
  const end = ['reply internal', 'refused eth_call internal']
  for (const answer of [boom, () => Promise.reject<Answer>(new Error('boom'))])
    t.strictSame((await runOnce(t, { answer })).did, [
      ...before,
      'bug boom',
      'grant back',
      'charge back',
      ...end,
      'observe failed 0 0',
    ])
  t.strictSame((await runOnce(t, { take: boom })).did, ['take 7', 'bug boom', ...end, 'observe failed 0 0'])
})

t.test('no answer leaves whose charge is not on disk', async t => {
  const heard: string[] = []
  const body = { destroy: () => heard.push('destroyed') }
  const answers: Answer[] = [
    { ...result, delivered: sent => heard.push(`delivered ${sent}`) },
    { kind: 'stream', member: 'result', body } as unknown as Answer,
  ]
  for (const answer of answers)
    for (const commit of [false, Promise.resolve(false)])
      t.strictSame((await runOnce(t, { answer: () => answer, commit })).did.slice(3), [
        'commit',
        'grant back',
        'charge back',
        'reply journal_unavailable',
        'refused eth_call journal_unavailable',
        'observe refused 0 5',
      ])
  t.strictSame(heard, ['delivered false', 'delivered false', 'destroyed', 'destroyed'])
})

t.test('on the public route there is a rate and no charge', async t => {
  const { did } = await runOnce(t, { isPublic: true, failure: new Error('no disk') })
  t.strictSame(did, ['take 7', 'execute', 'reply result', 'observe ok 0 5'])
})

t.test('management is free, and its bugs are told as such', async t => {
  const asked = 'service_usage'
  t.strictSame((await runOnce(t, { asked })).did, ['reply result', 'observe ok 0 0'])
  t.strictSame((await runOnce(t, { asked, manage: () => Promise.reject(new Error('boom')) })).did, [
    'bug boom',
    'reply internal',
    'refused other internal',
    'observe failed 0 0',
  ])
  t.strictSame(
    (await runOnce(t, { asked, manage: () => Promise.reject(new Away('the keeper is away')) })).did.slice(
      0,
      2,
    ),
    ['reply store_unavailable', 'refused other store_unavailable'],
    'what passes by itself is no bug',
  )
})
