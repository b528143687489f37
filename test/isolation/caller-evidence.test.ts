/**
 * Replies that callers can provoke hold for those callers. A bystander, who is another account, is served by the same
 * route as before, until a probe of the gateway's own draws the same reply.
 */
import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { message, type Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { bodiesAt, callsIn, takeBodies } from '../support/batching-node.ts'
import { startGateway, type Gateway } from '../support/gateway.ts'
import { LogReader } from '../support/log-lines.ts'
import { error, reply, result, type Handler } from '../support/node-replies.ts'
import { rawItems } from '../support/raw-json.ts'
import { routesLookedAt, routesOf } from '../support/route-status.ts'
import { startNode, type ScriptedNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'
import { crewOf } from '../support/workers.ts'

const chainId = 1001
const genesisHash = '1'.repeat(32)
const STATUSES = [401, 402, 403, 429] as const
/** What a web filter in front of a node does not let through. */
const FILTERED = '<script>'
const method = 'web3_sha3'

const filtered =
  (refuses: Handler, otherwise: Handler): Handler =>
  (request, response) =>
    (request.text.includes(FILTERED) ? refuses : otherwise)(request, response)

const slugs = [
  ...STATUSES.map(status => `status-${status}`),
  'revoked',
  'lacks',
  'fails',
  'batches',
  'hedged',
]
const nodes = new Map<string, readonly [first: ScriptedNode, second: ScriptedNode]>()
for (const slug of [...slugs, 'indexed']) {
  const pair = await Promise.all([
    startNode(t, { chainId, genesisHash }),
    startNode(t, { chainId, genesisHash }),
  ])
  for (const [i, node] of pair.entries()) node.otherwise(result(i === 0 ? '"a"' : '"b"'))
  nodes.set(slug, [pair[0], pair[1]])
}
const of = (slug: string) => nodes.get(slug)!

const configOf = (...names: readonly string[]) => ({
  networks: Object.fromEntries(
    names.map(slug => [
      slug,
      slug === 'indexed'
        ? { family: 'solana' as const, chainId: 'indexed', genesisHash, public: true, share: false }
        : { chainId, public: true, share: false, hedge: slug === 'hedged' },
    ]),
  ),
  routes: names.flatMap(slug => [
    { id: `${slug}-a`, network: slug, http: of(slug)[0].url, batch: 20 },
    { id: `${slug}-b`, network: slug, http: of(slug)[1].url, batch: 20, priority: 2 },
  ]),
  plans: { public: { tiers: ['any'], maxBatch: 100, rate: { perSecond: 100_000, burst: 100_000 } } },
})

const gateway = await startGateway(t, configOf(...slugs, 'indexed'))
await routesLookedAt(gateway)

let addresses = 0
/** Calls of the public route from an address that nobody has called from before. */
function stranger(at: Gateway, slug: string) {
  addresses += 1
  const agent = new Agent({ localAddress: `127.0.1.${addresses}` })
  const post = async (body: string) => at.send({ path: `/${slug}/v1/rpc/public`, body, agent })
  return {
    post,
    call: async (name: string, params: unknown): Promise<any> =>
      JSON.parse((await post(message(name, params))).text),
  }
}

let made = 0
/** Makes calls that differ one after the other; gives who answered each. */
async function askedOf(access: Access, count: number): Promise<unknown[]> {
  const answers: unknown[] = []
  for (let i = 0; i < count; i += 1) {
    const { result: by, error } = await access.call(method, [
      `0x${(made += 1).toString(16).padStart(8, '0')}`,
    ])
    answers.push(by ?? error.data)
  }
  return answers
}

const all = (count: number, by: string) => Array<string>(count).fill(by)
const statusOf = async (at: Gateway, id: string) => (await routesOf(at)).find(route => route.id === id)!

/** Has two addresses draw a status that the bystander's calls do not draw. */
async function isOnlyTheirs(t: Test, at: Gateway, slug: string, bystander: Access): Promise<void> {
  for (const who of [stranger(at, slug), stranger(at, slug)]) {
    t.match(
      await who.call(method, [`${FILTERED}${addresses}`]),
      { result: 'b' },
      'another route serves the call',
    )
    t.strictSame(await askedOf(bystander, 5), all(5, 'a'), 'the bystander is served as before')
    t.match(await who.call(method, [`0x${addresses}`]), { result: 'b' }, 'it holds for who drew it')
  }
  t.match(
    await stranger(at, slug).call(method, ['0x00']),
    { result: 'a' },
    'so is who calls for the first time',
  )
}

for (const status of STATUSES) {
  const slug = `status-${status}`
  t.test(`HTTP ${status} for the params of two strangers moves nobody else's calls`, async t => {
    of(slug)[0].otherwise(filtered(reply(status, 'filtered', { 'retry-after': '30' }), result('"a"')))
    const bystander = await createAccess(gateway, 'paid', slug)
    t.strictSame(await askedOf(bystander, 5), all(5, 'a'))
    await isOnlyTheirs(t, gateway, slug, bystander)
    t.match(await statusOf(gateway, `${slug}-a`), { healthy: true, keptAwayCallers: 2 })
  })
}

t.test('a key that is revoked at the provider is found by a probe, for everybody', async t => {
  const [first] = of('revoked')
  const bystander = await createAccess(gateway, 'paid', 'revoked')
  t.strictSame(await askedOf(bystander, 3), all(3, 'a'))
  const revoked = reply(403, '{"error":"invalid key"}')
  for (const name of [method, 'eth_blockNumber']) first.on(name, revoked)
  first.otherwise(revoked)
  t.match(await stranger(gateway, 'revoked').call(method, ['0x00']), { result: 'b' })
  await until('the route is known to be out', async () => !(await statusOf(gateway, 'revoked-a')).healthy)
  t.match(await statusOf(gateway, 'revoked-a'), {
    why: "its upstream refuses the operator's key, plan or credit",
  })
  const before = first.count(method)
  t.strictSame(await askedOf(bystander, 5), all(5, 'b'))
  t.equal(first.count(method), before, 'without drawing it too')
})

t.test("an error about two strangers' params does not move a method off a route", async t => {
  const [first] = of('lacks')
  const lacking = error('{"code":-32000,"message":"this request is not implemented yet"}')
  const short = error('{"code":-32602,"message":"missing value for required argument 0"}')
  first.on('eth_call', (request, response) => {
    const params = rawItems(request.params).length
    return (params === 0 ? short : params === 3 ? lacking : result('"a"'))(request, response)
  })
  const call = [{ to: `0x${'1'.repeat(40)}` }, 'latest']
  const bystander = await createAccess(gateway, 'paid', 'lacks')
  t.match(await bystander.call('eth_call', call), { result: 'a' })
  for (const who of [stranger(gateway, 'lacks'), stranger(gateway, 'lacks')])
    t.match(await who.call('eth_call', [...call, {}]), { result: 'b' })
  for (let i = 0; i < 5; i += 1) t.match(await bystander.call('eth_call', call), { result: 'a' })
  t.match(await stranger(gateway, 'lacks').call('eth_call', call), { result: 'a' })
})

t.test('a key that a Solana node leaves out of its index says nothing about the method', async t => {
  const [first] = of('indexed')
  const excluded = '3'.repeat(32)
  const words = `${excluded} excluded from account secondary indexes; this RPC method unavailable for key`
  first.on('getProgramAccounts', (request, response) =>
    (request.params.includes(excluded)
      ? error(JSON.stringify({ code: -32010, message: words }))
      : result('"a"'))(request, response),
  )
  const other = '4'.repeat(32)
  const bystander = await createAccess(gateway, 'paid', 'indexed')
  t.match(await bystander.call('getProgramAccounts', [other]), { result: 'a' })
  const strangers = [stranger(gateway, 'indexed'), stranger(gateway, 'indexed')]
  for (const who of strangers) t.match(await who.call('getProgramAccounts', [excluded]), { result: 'b' })
  t.match(await bystander.call('getProgramAccounts', [other]), { result: 'a' })
  for (const who of strangers)
    t.match(
      await who.call('getProgramAccounts', [other]),
      { result: 'a' },
      'nor does it to who asked for the key',
    )
  const { unsupported } = (await statusOf(gateway, 'indexed-a')) as any
  t.equal(unsupported, undefined)
})

t.test('calls of many strangers that a node fails at move nobody whose calls it answers', async t => {
  of('fails')[0].otherwise(filtered(reply(500, 'failed'), result('"a"')))
  const bystander = await createAccess(gateway, 'paid', 'fails')
  t.strictSame(await askedOf(bystander, 3), all(3, 'a'))
  for (let round = 0; round < 5; round += 1) {
    const calls = Array.from({ length: 6 }, async () => {
      const who = stranger(gateway, 'fails')
      for (let i = 0; i < 4; i += 1) await who.call(method, [`${FILTERED}${round} ${i}`])
    })
    await Promise.all(calls)
    t.strictSame(await askedOf(bystander, 5), all(5, 'a'))
  }
})

t.test("a stranger's body that draws HTTP 400 does not end batching for others", async t => {
  const [first] = of('batches')
  takeBodies(first)
  first.on(method, result('"a"'))
  const answer = first.answer.bind(first)
  first.answer = async (request, response) =>
    filtered(reply(400, '{"error":"malformed"}'), answer)(request, response)
  const batch = (mark: string) =>
    `[${Array.from({ length: 6 }, (_, i) => message(method, [`${mark}${i}`], i)).join(',')}]`
  const bystander = await createAccess(gateway, 'paid', 'batches')
  const bodiesOf = (mark: string) =>
    bodiesAt(first)
      .filter(({ text }) => text.includes(`"${mark}`))
      .map(body => callsIn(body).length)
  for (const mark of ['0x01', '0x02', '0x03']) {
    if (mark !== '0x01') {
      const who = stranger(gateway, 'batches')
      t.equal((await who.post(batch(FILTERED))).status, 200)
      t.equal((await who.post(batch(`0x9${mark.slice(3)}`))).status, 200)
      t.strictSame(bodiesOf(`0x9${mark.slice(3)}`), [], 'whose body it was sends its calls one by one')
    }
    t.equal((await bystander.post(batch(mark))).status, 200)
    t.strictSame(bodiesOf(mark), [6], 'the calls of the bystander go in one body')
  }
})

t.test('slow calls of one address do not decide when the calls of others are hedged', async t => {
  const [first, second] = of('hedged')
  const later =
    (ms: number, then: Handler): Handler =>
    async (request, response) => {
      await pause(ms)
      await then(request, response)
    }
  const quick = result('"a"')
  first.otherwise((request, response) =>
    (request.params.includes('0xee') ? later(1_200, quick) : quick)(request, response),
  )
  const bystander = await createAccess(gateway, 'paid', 'hedged')
  t.strictSame(await askedOf(bystander, 40), all(40, 'a'))
  const who = stranger(gateway, 'hedged')
  await Promise.all(Array.from({ length: 150 }, (_, i) => who.call(method, [`0xee${i}`])))
  const before = second.count(method)
  first.otherwise(later(800, quick))
  t.strictSame(await askedOf(bystander, 1), ['b'], 'a second route is asked long before the first answers')
  t.equal(second.count(method) - before, 1)
})

t.test('the log says of no route that it is down but of the one whose key was revoked', async t => {
  // A change is logged when a probe has ended: with the next one begins, the one before has.
  const probed = slugs.map(async slug => {
    const [first] = of(slug)
    await first.arrived('eth_blockNumber', first.count('eth_blockNumber') + 2)
  })
  await Promise.all(probed)
  const down = new LogReader(gateway).all().filter(({ msg }) => msg === 'route is down')
  t.strictSame(
    down.map(({ route }) => route),
    ['revoked-a'],
  )
})

t.test('with workers it is the same, and a probe of the primary process speaks for all', async t => {
  const slug = 'status-403'
  const [first] = of(slug)
  const several = await startGateway(t, {
    ...configOf(slug),
    gateway: { workers: { count: 2, balance: 'roundRobin' } },
  })
  await crewOf(several, 2)
  await routesLookedAt(several)
  const bystander = await createAccess(several, 'paid', slug)
  t.strictSame(await askedOf(bystander, 6), all(6, 'a'))
  await isOnlyTheirs(t, several, slug, bystander)
  const revoked = reply(403, '{"error":"invalid key"}')
  first.otherwise(revoked).on('eth_blockNumber', revoked)
  t.match(await stranger(several, slug).call(method, ['0x00']), { result: 'b' })
  await until('every worker passes over the route', async () => {
    const before = first.count(method)
    const answers = await askedOf(bystander, 4)
    return answers.every(by => by === 'b') && first.count(method) === before
  })
})
