import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DatabaseSync } from '../../src/stores/sqlite/driver.ts'
import { message, type Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import type { NetworkYaml, RouteYaml } from '../support/config-files.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import type { HttpReply } from '../support/http.ts'
import { hang, held, html, result, type Handler } from '../support/node-replies.ts'
import { rawItems } from '../support/raw-json.ts'
import { refused, refusedItem, refusals, type ExpectedRefusal, type Reason } from '../support/refusals.ts'
import { startSocketNode, type ScriptedSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'

/** Each refusal that a call can meet, alone, in batches and in frames, in the codes of both families. */

const families = ['evm', 'solana'] as const
type Family = (typeof families)[number]
const gate = new Gate()
t.teardown(() => {
  gate.open()
})
const ailments: Readonly<Record<string, Handler>> = {
  fine: result('"ok"'),
  slow: hang,
  bad: html,
  full: held(gate, result('"late"')),
}
const methods = {
  test_one: {},
  test_twenty: { cost: 20 },
  test_needs: { needs: ['spare'] },
  test_params: { params: [1, 1] },
  test_paid: { tier: 'paid' },
}

const networks: Record<string, NetworkYaml> = {}
const routes: RouteYaml[] = []
const nodes: ScriptedSocketNode[] = []
for (const family of families) {
  for (const [i, [ailment, handler]] of Object.entries({ ...ailments, down: hang }).entries()) {
    const node = await startSocketNode(t, { chainId: 2000 + i })
    for (const method of Object.keys(methods)) node.on(method, handler)
    const slug = `${family}-${ailment}`
    networks[slug] = { family, chainId: family === 'evm' ? 2000 + i : slug, methods }
    const http = ailment === 'down' ? 'http://127.0.0.1:1' : node.url
    const limits = ailment === 'full' ? { limits: { inFlight: 1 } } : {}
    routes.push({
      id: slug,
      network: slug,
      http,
      ws: node.wsUrl,
      timeout: '300ms',
      ...limits,
      ...(ailment === 'full' ? { timeout: '60s' } : {}),
    })
    nodes.push(node)
  }
}
const tiers = ['any', 'paid']
const gateway = await startGateway(t, {
  networks,
  routes,
  plans: {
    tight: { tiers, rate: { perSecond: 1, burst: 20 }, maxBatch: 10 },
    small: {
      tiers,
      rate: { perSecond: 1000, burst: 1000 },
      quota: { requests: 20, every: '30d' },
      maxBatch: 10,
    },
  },
})
const management = message('service_account', [], '"beside"')

interface Case {
  readonly reason: Reason
  readonly ailment?: string
  readonly plan?: string
  readonly method?: string
  readonly data?: ExpectedRefusal['data']
  /** What `Retry-After` must be, given `data`. */
  readonly retryAfter?: (data: any) => string | undefined
}
const positive = (value: unknown) => Number.isInteger(value) && (value as number) > 0
const cases: readonly Case[] = [
  { reason: 'method_not_found', method: 'test_nothing' },
  { reason: 'plan_required', plan: 'free', method: 'test_paid', data: { tier: 'paid' } },
  {
    reason: 'invalid_params',
    method: 'test_params',
    data: { why: (why: unknown) => typeof why === 'string' },
  },
  { reason: 'capability_missing', method: 'test_needs', data: { capability: 'spare' } },
  {
    reason: 'rate_limited',
    plan: 'tight',
    method: 'test_twenty',
    data: { retryAfterMs: positive, limit: 1 },
    retryAfter: ({ retryAfterMs }) => String(Math.ceil(retryAfterMs / 1000)),
  },
  { reason: 'rate_limited', plan: 'tight', data: { retryAfterMs: positive }, retryAfter: () => undefined },
  {
    reason: 'quota_exhausted',
    plan: 'small',
    data: { resetsAt: (at: unknown) => positive(at) && (at as number) > Date.now() / 1000 + 29 * 86_400 },
    retryAfter: ({ resetsAt }) => String(Math.ceil(resetsAt - Date.now() / 1000)),
  },
  { reason: 'no_route', ailment: 'down' },
  { reason: 'upstream_error', ailment: 'bad' },
  { reason: 'upstream_timeout', ailment: 'slow' },
  { reason: 'overloaded', ailment: 'full' },
]

/** Spends what a plan has to give at once. */
async function spend(access: Access, plan: string): Promise<void> {
  if (plan === 'tight' || plan === 'small')
    await until('all is spent', async () => (await access.post(message('test_twenty'))).status !== 200)
  if (plan === 'tight') while ((await access.post(message('test_one'))).status === 200);
}

/** Sends a call in every way at once and holds what comes back. */
async function everywhere(t: Test, access: Access, family: Family, one: Case): Promise<void> {
  const { reason, data = {}, retryAfter } = one
  const call = message(one.method ?? 'test_one', [], 7)
  const client = await openClient(t, access)
  const [single, whole, mixed, silent, frame, batchFrame] = await Promise.all([
    access.post(call),
    access.post(`[${call},${call}]`),
    access.post(`[${call},${management}]`),
    access.post(call.replace('"id":7,', '')),
    client.exchange(call),
    (await openClient(t, access)).exchange(`[${management},${call}]`),
  ])
  const expected = { reason, family, id: '7', data }
  const told = refused(t, single, expected)
  const header = (reply: HttpReply) => Number(reply.headers['retry-after'])
  if (retryAfter?.(told) === undefined) t.equal(single.headers['retry-after'], undefined)
  else t.ok(Math.abs(header(single) - Number(retryAfter(told))) <= 1, `Retry-After ${header(single)}`)
  t.equal(whole.status, refusals[reason][0], 'a batch that is refused as a whole has the status')
  if (retryAfter?.(told) === undefined) t.equal(whole.headers['retry-after'], undefined)
  else t.ok(header(whole) >= 5, 'and says when to come back')
  for (const item of rawItems(whole.text)) refusedItem(t, item, expected)
  t.equal(mixed.status, 200, 'one that is not, has 200')
  t.equal(mixed.headers['retry-after'], undefined)
  refusedItem(t, rawItems(mixed.text)[0]!, expected)
  t.match(rawItems(mixed.text)[1], '"accountId"')
  t.equal(silent.status, 204)
  refusedItem(t, frame, expected)
  t.match(rawItems(batchFrame)[0], '"accountId"')
  refusedItem(t, rawItems(batchFrame)[1]!, expected)
}

for (const family of families) {
  for (const one of cases) {
    const { reason, ailment = 'fine', plan = 'paid', method = 'test_one' } = one
    t.test(`${family}: ${reason} of ${method} on every way`, async t => {
      const access = await createAccess(gateway, plan, `${family}-${ailment}`)
      await spend(access, plan)
      const occupied = ailment === 'full' ? access.post(message('test_one')) : null
      if (ailment === 'full') await nodes[families.indexOf(family) * 5 + 3]!.arrived('test_one')
      const before = await access.usage()
      await everywhere(t, access, family, one)
      t.same(await access.usage(), before, 'nothing was charged')
      if (occupied === null) return
      gate.releaseOne()
      t.match((await occupied).text, '"late"')
    })
  }
}

t.test('journal_unavailable while usage cannot be written, and service as before afterwards', async t => {
  const accesses = {
    evm: await createAccess(gateway, 'paid', 'evm-fine'),
    solana: await createAccess(gateway, 'paid', 'solana-fine'),
  }
  const intruder = new DatabaseSync(join(gateway.dir, 'data', 'journal.db'), { timeout: 5_000 })
  t.teardown(() => {
    intruder.close()
  })
  intruder.exec('BEGIN IMMEDIATE')
  for (const family of families) {
    const access = accesses[family]
    const client = await openClient(t, access)
    await until(
      'the journal is found to be locked',
      async () => (await access.post(message('test_one'))).status === 503,
    )
    refused(t, await access.post(message('test_one', [], 7)), {
      reason: 'journal_unavailable',
      family,
      id: '7',
    })
    const whole = await access.post(`[${message('test_one', [], 7)}]`)
    t.equal(whole.status, 503)
    refusedItem(t, rawItems(whole.text)[0]!, { reason: 'journal_unavailable', family, id: '7' })
    refusedItem(t, await client.exchange(message('test_one', [], 7)), {
      reason: 'journal_unavailable',
      family,
      id: '7',
    })
  }
  intruder.exec('ROLLBACK')
  for (const family of families) {
    const access = accesses[family]
    await until('usage is written again', async () => (await access.post(message('test_one'))).status === 200)
    t.same(await access.usage(), { requests: 1, calls: 1 }, 'what was refused is not charged')
  }
})

t.test('too_many_bad_keys says how long, in the data alone: the wait is short', async t => {
  const access = await createAccess(gateway, 'paid', 'evm-fine')
  const replies: HttpReply[] = []
  for (let i = 0; i < 22; i++) replies.push(await access.post('{', { path: '/evm-fine/v1/rpc/tg_nonsense' }))
  const data = refused(t, replies.at(-1)!, { reason: 'too_many_bad_keys', data: { retryAfterMs: positive } })
  t.ok(data.retryAfterMs <= 3_000, 'one more every three seconds')
  t.equal(replies.at(-1)!.headers['retry-after'], undefined)
  refused(t, await access.post('{', { path: '/solana-fine/v1/rpc/tg_nonsense' }), {
    reason: 'too_many_bad_keys',
    family: 'solana',
  })
})
