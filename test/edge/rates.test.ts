import t from 'tap'
import { Access, message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import type { HttpReply } from '../support/http.ts'
import { echo, reply, result } from '../support/node-replies.ts'
import { rawItems } from '../support/raw-json.ts'
import { refused, refusedItem } from '../support/refusals.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

/** Rates and quotas: what they count, whom they bind, and what they leave alone. */
const node = await startNode(t, { chainId: 1001 })
node.on('web3_sha3', echo).on('eth_getBlockReceipts', result('[]'))
const tiers = ['any', 'paid']
const huge = { perSecond: 100_000, burst: 100_000 }
// A refill of one a second would blur the counts: these buckets fill in hours.
const slow = (burst: number) => ({ rate: { perSecond: 0.001, burst } })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001, public: true } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
  plans: {
    public: { tiers: ['any'], ...slow(20), maxBatch: 20 },
    twenty: { tiers, ...slow(20), maxBatch: 100 },
    quota: { tiers, rate: huge, quota: { requests: 30, every: '30d' }, maxBatch: 100 },
    brief: { tiers, rate: huge, quota: { requests: 20, every: '3s' }, maxBatch: 100 },
  },
  gateway: { trustedProxies: ['127.0.0.1/32', '10.0.0.0/8', 'fd00::/8'] },
})
const one = message('web3_sha3', ['0x00'])
const three = message('eth_getBlockReceipts', ['latest'])
const left = ({ headers }: HttpReply) => Number(headers['x-ratelimit-remaining'])
const twenty = async () => createAccess(gateway, 'twenty', 'alpha')

t.test('a call takes its cost, from all endpoints of the account alike', async t => {
  const access = await twenty()
  const sister = await access.another('alpha')
  t.equal(left(await access.post(one)), 19)
  t.equal(left(await sister.post(three)), 16)
  t.equal(left(await access.post(three)), 13)
  t.equal(left(await (await twenty()).post(one)), 19, 'another account has its own')
})

t.test('what is refused takes nothing', async t => {
  const access = await twenty()
  t.equal(left(await access.post(one)), 19)
  const refusals = [
    '{',
    '[]',
    message('eth_nothing'),
    message('web3_sha3', []),
    message('trace_block', ['latest']),
  ]
  for (const body of refusals) for (let i = 0; i < 10; i++) await access.post(body)
  node.on('web3_sha3', reply(503, ''))
  t.equal((await access.post(one)).status, 502)
  node.on('web3_sha3', echo)
  t.equal(left(await access.post(one)), 18)
  for (let i = 0; i < 6; i++) t.equal(left(await access.post(three)), 15 - 3 * i)
  for (let i = 0; i < 10; i++) {
    const denied = await access.post(three)
    const data = refused(t, denied, { reason: 'rate_limited', id: '1', data: { limit: 0.001 } })
    t.equal(left(denied), 0)
    t.ok(data.retryAfterMs > 0)
  }
})

t.test('a batch spends for each of its calls, in their order', async t => {
  const access = await twenty()
  const calls = Array.from({ length: 25 }, (_, i) => message('web3_sha3', [`0x${i}`], i))
  const { status, text } = await access.post(`[${calls.join()}]`)
  t.equal(status, 200)
  const items = rawItems(text)
  t.equal(items.length, 25)
  for (const [i, item] of items.entries())
    if (i < 20) t.strictSame(JSON.parse(item).result, [`0x${i}`])
    else refusedItem(t, item, { reason: 'rate_limited', id: String(i) })
  t.equal((await access.usage()).requests, 20)
})

t.test('a refusal says how long to wait, and Retry-After only where that is long', async t => {
  const access = await twenty()
  await access.post(`[${Array.from({ length: 20 }, (_, i) => message('web3_sha3', ['0x'], i)).join()}]`)
  const denied = await access.post(one)
  const { retryAfterMs } = refused(t, denied, { reason: 'rate_limited', id: '1' })
  t.ok(retryAfterMs > 900_000 && retryAfterMs <= 1_000_000, `${retryAfterMs} ms`)
  t.equal(Number(denied.headers['retry-after']), Math.ceil(retryAfterMs / 1000))
  t.equal(denied.headers['x-ratelimit-limit'], '20')
  t.equal(denied.headers['x-ratelimit-remaining'], '0')
  t.ok(Number(denied.headers['x-ratelimit-reset']) > Date.now() / 1000 + 19_000)
})

t.test('racing calls pass the rate exactly as often as it says', async t => {
  const access = await twenty()
  const replies = await Promise.all(Array.from({ length: 100 }, async () => access.post(one)))
  t.equal(replies.filter(({ status }) => status === 200).length, 20)
  t.equal(replies.filter(({ status }) => status === 429).length, 80)
})

t.test('racing calls pass the quota exactly as often as it says', async t => {
  const access = await createAccess(gateway, 'quota', 'alpha')
  const replies = await Promise.all(
    Array.from({ length: 60 }, async (_, i) => access.post(i % 2 ? one : three)),
  )
  const passed = replies.filter(({ status }) => status === 200).length
  const { requests, calls } = await access.usage()
  t.equal(calls, passed)
  t.ok(requests <= 30 && requests >= 28, `${requests} of 30`)
  const denied = replies.find(({ status }) => status === 402)!
  const { resetsAt } = refused(t, denied, { reason: 'quota_exhausted', id: '1' })
  t.ok(Math.abs(resetsAt - (Date.now() / 1000 + 30 * 86_400)) < 120)
  t.ok(Math.abs(Number(denied.headers['retry-after']) - (resetsAt - Date.now() / 1000)) < 120)
})

t.test('a quota is there again when its window is over, not before', async t => {
  const access = await createAccess(gateway, 'brief', 'alpha')
  for (let window = 0; window < 2; window++) {
    const denied = await until('the quota is used up', async () => {
      const replies = await Promise.all(Array.from({ length: 25 }, async () => access.post(one)))
      return replies.find(({ status }) => status === 402)
    })
    const { resetsAt } = refused(t, denied, { reason: 'quota_exhausted', id: '1' })
    t.ok(resetsAt > Date.now() / 1000 - 3 && resetsAt <= Date.now() / 1000 + 3, `resets at ${resetsAt}`)
    await until('the quota is there again', async () => (await access.post(one)).status === 200)
    t.ok(Date.now() >= resetsAt * 1000, `${resetsAt * 1000 - Date.now()} ms too early`)
  }
})

/** Public callers, told apart by what the proxy in front of the gateway says of them. */
const visitor = new Access(gateway, 'alpha', 'public')
const from = async (forwarded: string, body = one, access = visitor) =>
  access.post(body, { headers: { 'x-forwarded-for': forwarded } })
const spend = async (forwarded: string) => {
  for (let i = 0; i < 6; i++) await from(forwarded, three)
  return left(await from(forwarded))
}

t.test('X-Forwarded-For is walked from the right, whatever stands on its left', async t => {
  t.equal(await spend('203.0.113.1'), 1)
  const same = [
    '1.2.3.4, 203.0.113.1',
    '10.0.0.5, 203.0.113.1',
    'garbage, , ;;, 203.0.113.1',
    '203.0.113.1, 10.1.2.3',
    '203.0.113.1, 10.1.2.3, fd00::7, 127.0.0.1',
    '203.0.113.1:51234',
    '::ffff:203.0.113.1',
    '[::ffff:203.0.113.1]:443',
    `${'9.9.9.9, '.repeat(500)}203.0.113.1`,
    `203.0.113.1, ${'10.0.0.1, '.repeat(50)}10.0.0.2`,
  ]
  for (const forwarded of same) refused(t, await from(forwarded, three), { reason: 'rate_limited', id: '1' })
  for (const forwarded of ['203.0.113.2', '203.0.113.1, 203.0.113.2', '203.0.113.1, 203.0.113.3:80'])
    t.equal((await from(forwarded, three)).status, 200, forwarded)
})

t.test('what is no address counts as the proxy that wrote it', async t => {
  t.equal(await spend('unknown'), 1)
  for (const forwarded of [
    '',
    'nonsense',
    '0x7f000001',
    '017700000001',
    '1.2.3',
    '1.2.3.4.5',
    '[1.2.3.4]',
    '300.1.1.1',
  ])
    refused(t, await from(forwarded, three), { reason: 'rate_limited', id: '1' })
})

t.test('an IPv6 /64 is one address', async t => {
  t.equal(await spend('2001:db8:1:2::1'), 1)
  for (const forwarded of ['2001:db8:1:2:ffff::9', '[2001:db8:1:2::3]', '[2001:DB8:1:2::3]:8080'])
    refused(t, await from(forwarded, three), { reason: 'rate_limited', id: '1' })
  t.equal((await from('2001:db8:1:3::1', three)).status, 200)
})

t.test('a flood of bad keys takes nothing from good keys of the same address', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const bad = new Access(gateway, 'alpha', `tg_${'a'.repeat(38)}`)
  const [good, refusals] = await Promise.all([
    Promise.all(Array.from({ length: 60 }, async () => from('198.51.100.7', one, access))),
    Promise.all(Array.from({ length: 300 }, async () => from('198.51.100.7', one, bad))),
  ])
  t.strictSame([...new Set(good.map(({ status }) => status))], [200])
  t.equal(refusals.filter(({ status }) => status === 401).length, 20)
  t.equal(refusals.filter(({ status }) => status === 429).length, 280)
})
