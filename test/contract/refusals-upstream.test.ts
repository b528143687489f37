import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import type { NetworkYaml, RouteYaml } from '../support/config-files.ts'
import { startGateway } from '../support/gateway.ts'
import * as replies from '../support/node-replies.ts'
import { observe } from '../support/observe.ts'
import { rawItems } from '../support/raw-json.ts'
import { commonHeaders, refused, refusedItem, type Reason } from '../support/refusals.ts'
import { startNode, type ScriptedNode } from '../support/scripted-node.ts'

const bait = await startNode(t)
const { error, reply } = replies

/** What an upstream can do wrong, and the refusals that the client may see for it. */
const ailments: Record<string, { handler: replies.Handler; reasons: Reason[] }> = {
  html: { handler: replies.html, reasons: ['upstream_error'] },
  empty: { handler: replies.empty, reasons: ['upstream_error'] },
  broken: { handler: replies.brokenJson, reasons: ['upstream_error'] },
  reset: { handler: replies.resetBeforeReply, reasons: ['upstream_error'] },
  cut: { handler: replies.resetMidBody, reasons: ['upstream_error'] },
  closed: { handler: replies.closeMidBody, reasons: ['upstream_error'] },
  scalar: { handler: reply(200, '"ok"'), reasons: ['upstream_error'] },
  bare: { handler: reply(200, id => `{"jsonrpc":"2.0","id":${id}}`), reasons: ['upstream_error'] },
  trailing: {
    handler: reply(200, id => `{"jsonrpc":"2.0","id":${id},"result":1}x`),
    reasons: ['upstream_error'],
  },
  five: { handler: reply(500, '{"message":"node-secret"}'), reasons: ['upstream_error'] },
  redirect: { handler: reply(302, '', { location: bait.url }), reasons: ['upstream_error'] },
  forbidden: {
    handler: reply(403, id => `{"jsonrpc":"2.0","id":${id},"error":{"code":403,"message":"node-secret"}}`),
    reasons: ['upstream_error', 'no_route'],
  },
  'too-many': {
    handler: reply(429, id => `{"jsonrpc":"2.0","id":${id},"error":{"code":429,"message":"node-secret"}}`),
    reasons: ['upstream_error', 'no_route', 'overloaded'],
  },
  limited: {
    handler: error('{"code":-32005,"message":"node-secret limit exceeded"}'),
    reasons: ['upstream_error', 'no_route', 'overloaded'],
  },
  hang: { handler: replies.hang, reasons: ['upstream_timeout'] },
}

const nodes: Record<string, ScriptedNode> = {}
const networks: Record<string, NetworkYaml> = {}
const routes: RouteYaml[] = []
const rule = { methods: { test_once: { cost: 3 } } }
for (const [index, [ailment, { handler }]] of Object.entries(ailments).entries()) {
  for (const family of ['evm', 'solana'] as const) {
    const slug = `${family}-${ailment}`
    nodes[slug] = (await startNode(t, { chainId: 2000 + index })).on('test_once', handler)
    const chainId = family === 'evm' ? 2000 + index : `solana-${ailment}`
    networks[slug] = { family, chainId, ...rule }
    const timeout = ailment === 'hang' ? { timeout: '300ms' } : {}
    routes.push({ id: slug, network: slug, http: nodes[slug].url, ...timeout })
  }
}
/** A port of the system that nothing listens on and nobody is given. */
const refusing = 'http://127.0.0.1:1'
const good = await startNode(t, { chainId: 3000 })
for (const family of ['evm', 'solana'] as const) {
  const chainId = (id: number) => (family === 'evm' ? id : `solana-${id}`)
  networks[`${family}-down`] = { family, chainId: chainId(3001), ...rule }
  networks[`${family}-good`] = { family, chainId: chainId(3000), ...rule }
  routes.push({ id: `${family}-down`, network: `${family}-down`, http: refusing })
  routes.push({ id: `${family}-good`, network: `${family}-good`, http: good.url })
}
const gateway = await startGateway(t, { networks, routes, gateway: { limits: { batchReply: '1MiB' } } })
const account = await createAccess(gateway, 'paid', 'evm-good')
const body = message('test_once', [])

for (const [ailment, { reasons }] of Object.entries(ailments)) {
  for (const family of ['evm', 'solana'] as const) {
    t.test(`${family}: a node that answers ${ailment}`, async t => {
      const slug = `${family}-${ailment}`
      const access = await account.another(slug)
      const seen = await observe(access, nodes[slug]!, () => access.post(body), account)
      const found: Reason | undefined = JSON.parse(seen.value.text).error?.data?.reason
      t.ok(found !== undefined && reasons.includes(found), `reason: ${found}`)
      refused(t, seen.value, {
        reason: reasons.find(reason => reason === found) ?? reasons[0]!,
        family,
        id: '1',
      })
      t.notMatch(seen.value.text, /node-secret|operator-secret|127\.0\.0\.1/)
      t.equal(seen.sent.length, 1, 'sent once')
      t.equal(seen.requests, 0)
      t.equal(seen.calls, 0)
    })
  }
}

t.test('a redirect of a node is not followed', t => {
  t.same(bait.requests, [])
  t.end()
})

for (const family of ['evm', 'solana'] as const) {
  t.test(`${family}: a node that is down is no_route`, async t => {
    const access = await account.another(`${family}-down`)
    for (let i = 0; i < 3; i++) refused(t, await access.post(body), { reason: 'no_route', family, id: '1' })
    t.same(await access.usage(account), { requests: 0, calls: 0 })
  })

  t.test(`${family}: a batch that finds no route as a whole has its status`, async t => {
    const access = await account.another(`${family}-down`)
    const reply = await access.post(`[${body},${body}]`)
    t.equal(reply.status, 503)
    for (const item of rawItems(reply.text)) refusedItem(t, item, { reason: 'no_route', family, id: '1' })
    t.same(await access.usage(account), { requests: 0, calls: 0 })
  })

  t.test(`${family}: an answer too large for a batch is refused in its place, and charged`, async t => {
    const access = await account.another(`${family}-good`)
    good.on('test_once', (request, response) => {
      const size = JSON.parse(request.params) as [number]
      replies.result(`"${'x'.repeat(size[0])}"`)(request, response)
    })
    const sized = (id: number, size: number) => message('test_once', [size], id)
    const seen = await observe(
      access,
      good,
      () => access.post(`[${sized(1, 10)},${sized(2, 2_000_000)},${sized(3, 10)}]`),
      account,
    )
    t.equal(seen.value.status, 200)
    commonHeaders(t, seen.value)
    const items = rawItems(seen.value.text)
    t.equal(items.length, 3)
    t.strictSame(JSON.parse(items[0]!), { jsonrpc: '2.0', id: 1, result: 'x'.repeat(10) })
    refusedItem(t, items[1]!, { reason: 'response_too_large', family, id: '2' })
    t.strictSame(JSON.parse(items[2]!), { jsonrpc: '2.0', id: 3, result: 'x'.repeat(10) })
    t.equal(seen.sent.length, 3)
    t.equal(seen.requests, 9)
    t.equal(seen.calls, 3)
    const alone = await access.post(sized(4, 2_000_000))
    t.equal(
      alone.text.length,
      2_000_000 + '{"jsonrpc":"2.0","id":4,"result":""}'.length,
      'a single one passes',
    )
  })
}
