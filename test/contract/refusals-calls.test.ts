import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import type { HttpReply } from '../support/http.ts'
import { observe } from '../support/observe.ts'
import { refused } from '../support/refusals.ts'
import { startNode } from '../support/scripted-node.ts'

const chainId = 1001
const evmNode = await startNode(t, { chainId, head: 0x1000 })
const solanaNode = await startNode(t)
const everything = ['any', 'paid']
const rate = { perSecond: 100_000, burst: 100_000 }
const gateway = await startGateway(t, {
  networks: {
    // Each call is looked for at the node.
    alpha: { chainId, share: false },
    sol: {
      share: false,
      family: 'solana',
      chainId: 'solana-test',
      methods: { getSupply: { cost: 20, tier: 'paid' }, getProgramAccounts: { needs: ['scan'] } },
    },
  },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: evmNode.url, capabilities: ['debug'] },
    { id: 'sol-a', network: 'sol', http: solanaNode.url },
  ],
  plans: {
    tight: { tiers: everything, rate: { perSecond: 1, burst: 20 }, maxBatch: 100 },
    small: { tiers: everything, rate, quota: { requests: 20, every: '30d' }, maxBatch: 100 },
  },
})

const families = [
  {
    family: 'evm',
    slug: 'alpha',
    node: evmNode,
    one: message('web3_sha3', ['0x00']),
    twenty: message('debug_traceBlockByNumber', ['latest']),
    paid: [
      'debug_traceBlockByNumber',
      'trace_block',
      'txpool_content',
      'txpool_status',
      'debug_traceCall',
    ].map(method => message(method, method === 'debug_traceCall' ? [{}, 'latest'] : ['latest'])),
    badParams: message('web3_sha3', []),
    incapable: [
      ['trace', message('trace_block', ['latest'])],
      ['trace', message('trace_filter', [{ fromBlock: 'latest', toBlock: 'latest' }])],
      ['txpool', message('txpool_content')],
    ],
  },
  {
    family: 'solana',
    slug: 'sol',
    node: solanaNode,
    one: message('getMinimumBalanceForRentExemption', [1]),
    twenty: message('getSupply'),
    paid: [message('getSupply')],
    badParams: message('getMinimumBalanceForRentExemption', []),
    incapable: [['scan', message('getProgramAccounts', ['x'])]],
  },
] as const
const text = (value: unknown) => typeof value === 'string' && value !== ''

for (const { family, slug, node, one, twenty, paid, badParams, incapable } of families) {
  const generous = await createAccess(gateway, 'paid', slug)

  t.test(`${family}: method_not_found`, async t => {
    const seen = await observe(generous, node, () => generous.post(message('nope')))
    refused(t, seen.value, { reason: 'method_not_found', family, id: '1' })
    t.same(seen.sent, [])
    t.equal(seen.requests, 0)
  })

  t.test(`${family}: invalid_params says why`, async t => {
    const seen = await observe(generous, node, () => generous.post(badParams))
    refused(t, seen.value, { reason: 'invalid_params', family, id: '1', data: { why: text } })
    t.same(seen.sent, [])
    t.equal(seen.requests, 0)
  })

  t.test(`${family}: plan_required names the tier, whatever the route can do`, async t => {
    const free = await createAccess(gateway, 'free', slug)
    const seen = await observe(free, node, async () => Promise.all(paid.map(body => free.post(body))))
    for (const reply of seen.value)
      refused(t, reply, { reason: 'plan_required', family, id: '1', data: { tier: 'paid' } })
    t.same(seen.sent, [])
    t.equal(seen.requests, 0)
    t.equal((await free.post(one)).status, 200)
  })

  for (const [capability, body] of incapable) {
    t.test(`${family}: capability_missing names ${capability}: ${body}`, async t => {
      const seen = await observe(generous, node, () => generous.post(body))
      refused(t, seen.value, { reason: 'capability_missing', family, id: '1', data: { capability } })
      t.same(seen.sent, [])
      t.equal(seen.requests, 0)
    })
  }

  t.test(`${family}: rate_limited says how long, and Retry-After where that is long`, async t => {
    const tight = await createAccess(gateway, 'tight', slug)
    const refusedRate = (reply: HttpReply) => {
      const data: { retryAfterMs: number } = refused(t, reply, {
        reason: 'rate_limited',
        family,
        id: '1',
        data: {
          retryAfterMs: (ms: unknown) => Number.isInteger(ms) && (ms as number) > 0,
          limit: (limit: unknown) => typeof limit === 'number' && limit > 0,
        },
      })
      return data
    }
    const seen = await observe(tight, node, async () => {
      t.equal((await tight.post(twenty)).status, 200)
      return tight.post(twenty)
    })
    const { retryAfterMs } = refusedRate(seen.value)
    // Twenty units at one a second: only a minute's pause between the two calls could make it short.
    t.ok(retryAfterMs > 5_000 && retryAfterMs <= 20_000, `retryAfterMs: ${retryAfterMs}`)
    t.equal(seen.value.headers['retry-after'], String(Math.ceil(retryAfterMs / 1000)))
    t.equal(seen.value.headers['x-ratelimit-limit'], '20')
    t.match(seen.value.headers['x-ratelimit-remaining'], /^\d$|^1\d$/)
    t.match(seen.value.headers['x-ratelimit-reset'], /^\d{10}$/)
    t.equal(seen.sent.length, 1)
    t.equal(seen.requests, 20)
    t.equal(seen.calls, 1)
  })

  t.test(`${family}: what a burst does not hold is refused, exactly`, async t => {
    const tight = await createAccess(gateway, 'tight', slug)
    const seen = await observe(tight, node, () =>
      Promise.all(Array.from({ length: 60 }, () => tight.post(one))),
    )
    const passed = seen.value.filter(({ status }) => status === 200)
    const stopped = seen.value.filter(({ status }) => status !== 200)
    t.ok(passed.length >= 20, `passed: ${passed.length}`)
    t.ok(stopped.length > 0, `stopped: ${stopped.length}`)
    t.equal(seen.sent.length, passed.length)
    t.equal(seen.requests, passed.length)
    for (const reply of stopped) {
      const { retryAfterMs } = refused(t, reply, { reason: 'rate_limited', family, id: '1' })
      if (retryAfterMs < 5_000) t.equal(reply.headers['retry-after'], undefined)
    }
  })

  t.test(`${family}: a batch that the rate refuses as a whole has the status of the refusal`, async t => {
    const tight = await createAccess(gateway, 'tight', slug)
    t.equal((await tight.post(twenty)).status, 200)
    const seen = await observe(tight, node, () => tight.post(`[${twenty},${twenty}]`))
    t.equal(seen.value.status, 429)
    t.match(JSON.parse(seen.value.text), [
      { id: 1, error: { data: { reason: 'rate_limited' } } },
      { id: 1, error: { data: { reason: 'rate_limited' } } },
    ])
    t.same(seen.sent, [])
    t.equal(seen.requests, 0)
  })

  t.test(`${family}: quota_exhausted says when it ends; the rate is the account's`, async t => {
    const small = await createAccess(gateway, 'small', slug)
    const sibling = await small.another(slug)
    const { createdAt }: { createdAt: number } = await small.managed('service_account')
    const resetsAt = createdAt + 30 * 86_400
    const seen = await observe(small, node, async () => {
      t.equal((await small.post(twenty)).status, 200)
      return [await small.post(one), await sibling.post(one)]
    })
    for (const reply of seen.value)
      refused(t, reply, { reason: 'quota_exhausted', family, id: '1', data: { resetsAt } })
    t.equal(seen.sent.length, 1)
    t.equal(seen.requests, 20)
    t.equal((await sibling.usage()).requests, 0)
    t.match((await small.managed('service_account')).quota, { requests: 20, used: 20, resetsAt })
  })

  t.test(`${family}: a refusal gives back the quota that it had taken`, async t => {
    const small = await createAccess(gateway, 'small', slug)
    for (let i = 0; i < 3; i++) {
      for (const [capability, body] of incapable)
        refused(t, await small.post(body), {
          reason: 'capability_missing',
          family,
          id: '1',
          data: { capability },
        })
      refused(t, await small.post(badParams), { reason: 'invalid_params', family, id: '1' })
    }
    t.equal((await small.post(twenty)).status, 200)
    refused(t, await small.post(one), { reason: 'quota_exhausted', family, id: '1' })
  })
}
