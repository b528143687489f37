/** A transaction goes to several upstreams at once: what each of them gets, who answers, and what becomes of those that nobody waits for. */
import { request } from 'node:http'
import { keccak256 } from 'ethers'
import t from 'tap'
import { message, type Access } from '../support/access.ts'
import { createAccesses } from '../support/accesses.ts'
import type { NetworkYaml, RouteYaml } from '../support/config-files.ts'
import { fault } from '../support/faults.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { hang, held, resetBeforeReply, result, type Handler } from '../support/node-replies.ts'
import { refused } from '../support/refusals.ts'
import { routesLookedAt } from '../support/route-status.ts'
import { startNode, type ScriptedNode } from '../support/scripted-node.ts'
import { openClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'

const chainId = 1001
const send = 'eth_sendRawTransaction'
const names = ['a', 'b', 'c'] as const
type Name = (typeof names)[number]
type Trio = Readonly<Record<Name, ScriptedNode>>

const networks: Record<string, NetworkYaml> = {}
const routes: RouteYaml[] = []

/** A network of three nodes, spares of each other. */
async function network(slug: string, broadcast: number, more: Partial<Record<Name, object>> = {}) {
  const nodes = Object.fromEntries(
    await Promise.all(names.map(async name => [name, await startNode(t, { chainId })])),
  ) as Trio
  networks[slug] = { chainId, broadcast }
  for (const [n, name] of names.entries())
    routes.push({
      id: `${slug}-${name}`,
      network: slug,
      http: nodes[name].url,
      priority: n + 1,
      ...more[name],
    })
  return nodes
}

/** Transactions that nobody has sent yet, with their hashes. */
let made = 0
function transaction(): { readonly raw: string; readonly hash: string } {
  const raw = `0x02f8${(made += 1).toString(16).padStart(64, '0')}`
  return { raw, hash: keccak256(raw) }
}

/** Answers as a node does that takes it. */
const takes: Handler = (call, response) =>
  result(`"${keccak256((JSON.parse(call.params) as [string])[0])}"`)(call, response)

function script(trio: Trio, method: string, handlers: Partial<Record<Name, Handler>>): void {
  for (const [name, handler] of Object.entries(handlers)) trio[name as Name].on(method, handler)
}

function counts(trio: Trio, method = send): number[] {
  return names.map(name => trio[name].count(method))
}

const every = await network('every', 3, { c: { ws: 'ws://127.0.0.1:1' } })
// A second key with the provider of the first route.
routes.push({ id: 'every-again', network: 'every', http: every.a.url.replace('operator', 'other') })
const known = await network('known', 3)
const refusing = await network('refusing', 3)
const hanging = await network('hanging', 3, { c: { timeout: '300ms' } })
const failing = await network('failing', 2)
const bounded = await network('bounded', 3, {
  b: { methods: { deny: [send] } },
  c: { limits: { inFlight: 1 } },
})
const crowded = await network('crowded', 2, { c: { enabled: false } })
const leaving = await network('leaving', 3)
const relayed = await network('relayed', 3, { b: { private: true }, c: { private: true } })
// A relay that takes transactions alone.
for (const method of ['eth_chainId', 'eth_blockNumber', 'eth_syncing'])
  relayed.c.on(method, fault(-32601, 'the method does not exist'))
const alone = await network('alone', 1, { b: { private: true } })
const closed = await network('closed', 3, { b: { private: true, enabled: false } })

const lying = await network('lying', 3)

const gateway = await startGateway(t, { networks, routes })
const accesses = await createAccesses(gateway, 'paid', Object.keys(networks))
await routesLookedAt(gateway, ['crowded-c', 'closed-b', 'relayed-c'])
await relayed.c.arrived('eth_syncing')

const attempts = (route: string, of: string, value: number): Promise<void> =>
  metricIs(gateway, 'tollgate_attempts_total', { route, result: of }, value)

const attemptsOf = (route: string): Promise<number> =>
  metric(gateway, 'tollgate_attempts_total', { route, result: 'ok' })

t.test(
  'of a type whose hash is not known, the hash of a node is the answer, whoever says that it is known',
  async t => {
    const hash = `0x${'5e'.repeat(32)}`
    const gate = new Gate()
    script(known, send, {
      a: fault(-32000, 'already known'),
      b: held(gate, result(`"${hash}"`)),
      c: fault(-32000, 'already known'),
    })
    const call = accesses.in('known').call(send, [`0x71f8${'c5'.repeat(60)}`])
    await known.c.arrived(send)
    gate.open()
    t.strictSame(await call, { jsonrpc: '2.0', id: 1, result: hash })
    for (const name of names) known[name].requests.length = 0
  },
)

t.test('the first hash answers; each upstream gets it once, and the late ones run on', async t => {
  const access = accesses.in('every')
  const gate = new Gate()
  const { raw, hash } = transaction()
  script(every, send, {
    a: held(gate, result(`"${hash}"`)),
    b: result(`"${hash}"`),
    c: held(gate, fault(-32000, 'insufficient funds for gas')),
  })
  t.strictSame(await access.call(send, [raw]), { jsonrpc: '2.0', id: 1, result: hash })
  t.strictSame(counts(every), [1, 1, 1], 'two keys with one provider are one upstream')
  for (const { params } of names.flatMap(name => every[name].calls)) t.equal(params, JSON.stringify([raw]))
  script(every, 'eth_getTransactionReceipt', { a: result('null'), b: result('null'), c: result('null') })
  const asked = async (): Promise<number[]> => {
    const before = counts(every, 'eth_getTransactionReceipt')
    await access.call('eth_getTransactionReceipt', [hash])
    return counts(every, 'eth_getTransactionReceipt').map((count, n) => count - before[n]!)
  }
  t.strictSame(await asked(), [0, 1, 0], 'a lookup goes to the one that took it')
  gate.open()
  const taken = async (): Promise<number> =>
    (await metric(gateway, 'tollgate_attempts_total', { route: 'every-a', result: 'ok' })) +
    (await metric(gateway, 'tollgate_attempts_total', { route: 'every-again', result: 'ok' }))
  await attempts('every-c', 'error', 1)
  t.equal(await taken(), 1)
  const lookups = new Set<string>()
  for (let n = 0; n < 20; n += 1) lookups.add(String(await asked()))
  lookups.delete('0,1,0')
  t.strictSame([...lookups], ['1,0,0'], 'later ones to any that took it, and never to the one that did not')
  const calls = 22
  t.strictSame(await access.usage(), { requests: calls, calls }, 'charged once')
})

t.test('bug: whatever a node answered first won over the hash of one that took the transaction', async t => {
  const access = accesses.in('lying')
  const others = `"0x${'ab'.repeat(32)}"`
  const call = async (raw: string, handlers: Partial<Record<Name, Handler>>) => {
    const gate = new Gate()
    script(lying, send, { ...handlers, a: held(gate, handlers.a!) })
    const [ended, answered] = [access.call(send, [raw]), attemptsOf('lying-c')]
    await until('the others have answered', async () => (await attemptsOf('lying-c')) > (await answered))
    gate.open()
    return (await ended).result as unknown
  }
  for (const lie of ['null', '5', '{"a":1}', others]) {
    const { raw, hash } = transaction()
    const failing = fault(-32000, 'insufficient funds for gas')
    t.equal(await call(raw, { a: result(`"${hash}"`), b: failing, c: result(lie) }), hash, lie)
  }
  const { raw } = transaction()
  const replies = { a: hang, b: result(others), c: result(others) }
  t.equal(await call(raw, replies), JSON.parse(others), 'two that agree are believed')
})

t.test('"already known" of any is the hash, whatever the others say', async t => {
  const { raw, hash } = transaction()
  script(known, send, {
    a: fault(-32000, 'insufficient funds for gas'),
    b: fault(-32000, 'already known'),
    c: fault(-32000, 'replacement transaction underpriced'),
  })
  t.match(await accesses.in('known').call(send, [raw]), { result: hash })
  script(known, send, { b: fault(-32000, 'nonce too low') })
  script(known, 'eth_getTransactionByHash', { b: result(`{"hash":"${hash}"}`) })
  t.match(await accesses.in('known').call(send, [raw]), { result: hash }, 'as is a nonce used by itself')
  t.strictSame(counts(known), [2, 2, 2])
})

t.test("where all refuse the first route's own words are the answer", async t => {
  const gate = new Gate()
  script(refusing, send, {
    a: held(gate, fault(-32000, 'insufficient funds for gas * price + value')),
    b: fault(-32000, 'intrinsic gas too low'),
    c: fault(-32000, 'max fee per gas less than block base fee'),
  })
  const replied = accesses.in('refusing').call(send, [transaction().raw])
  await attempts('refusing-b', 'error', 1)
  await attempts('refusing-c', 'error', 1)
  gate.open()
  t.match(await replied, { error: { code: -32000, message: 'insufficient funds for gas * price + value' } })
  t.strictSame(counts(refusing), [1, 1, 1])
  t.strictSame(await accesses.in('refusing').usage(), { requests: 1, calls: 1 })
})

t.test('one that hangs keeps nobody, ends at its own timeout, and stays in use', async t => {
  const access = accesses.in('hanging')
  for (let n = 1; n <= 5; n += 1) {
    const { raw, hash } = transaction()
    script(hanging, send, { a: result(`"${hash}"`), b: fault(-32000, 'nonce too low'), c: hang })
    t.match(await access.call(send, [raw]), { result: hash })
    await attempts('hanging-c', 'timeout', n)
  }
  t.strictSame(counts(hanging), [5, 5, 5], 'five faults in a row that nobody waited for shut no route out')
  t.strictSame(await access.usage(), { requests: 5, calls: 5 })
})

t.test('when all of them fail, those that are left are tried in turn', async t => {
  const { raw, hash } = transaction()
  script(failing, send, { a: resetBeforeReply, b: resetBeforeReply, c: fault(-32000, 'already known') })
  t.match(await accesses.in('failing').call(send, [raw]), { result: hash })
  const [a, b, c] = counts(failing)
  t.equal(c, 1)
  t.ok(a! >= 1 && b! >= 1)
  t.strictSame(await accesses.in('failing').usage(), { requests: 1, calls: 1 })
})

t.test('methods.deny and limits of a route hold', async t => {
  const access = accesses.in('bounded')
  script(bounded, send, { a: takes, c: hang })
  for (let n = 0; n < 3; n += 1) {
    const { raw, hash } = transaction()
    t.match(await access.call(send, [raw]), { result: hash })
  }
  t.strictSame(counts(bounded), [3, 0, 1], 'the one that hangs has room for one call')
})

t.test('what hangs holds no more than the connections of its route', async t => {
  const access = accesses.in('crowded')
  script(crowded, send, { a: takes, b: hang })
  const sent = Array.from({ length: 400 }, transaction)
  const replies = await Promise.all(sent.map(({ raw }) => access.call(send, [raw])))
  t.strictSame(
    replies.map(reply => reply.result as unknown),
    sent.map(({ hash }) => hash),
  )
  t.equal(crowded.a.count(send), 400)
  t.ok(crowded.b.peak <= 256, `${crowded.b.peak} calls in flight`)
  const waited = await metric(gateway, 'tollgate_attempts_total', { route: 'crowded-b', result: 'unneeded' })
  t.ok(waited > 0 && waited + crowded.b.count(send) <= 400, `${waited} were not sent, as nobody needed it`)
})

t.test('in a batch and over WebSocket each transaction is charged once', async t => {
  const access = accesses.in('every')
  for (const name of names) every[name].on(send, result('"0x2"'))
  const before = counts(every)
  const charged = await access.usage()
  const batch = Array.from({ length: 3 }, (_, id) => message(send, [transaction().raw], id))
  const { text } = await access.post(`[${batch.join(',')}]`)
  t.match(
    JSON.parse(text),
    [0, 1, 2].map(id => ({ id, result: '0x2' })),
  )
  const client = await openClient(t, access)
  t.match(await client.call(send, [transaction().raw]), { result: '0x2' })
  for (const [n, name] of names.entries()) await every[name].arrived(send, before[n]! + 4)
  t.strictSame(
    counts(every),
    before.map(count => count + 4),
  )
  const { requests, calls } = await access.usage()
  t.strictSame([requests - charged.requests, calls - charged.calls], [4, 4])
})

t.test('a client that leaves ends nothing that is on its way', async t => {
  const access = accesses.in('leaving')
  const gate = new Gate()
  for (const name of names) leaving[name].on(send, held(gate, result('"0x3"')))
  await leave(access, transaction().raw, () => Promise.all(names.map(name => leaving[name].arrived(send))))
  gate.open()
  for (const name of names) await attempts(`leaving-${name}`, 'ok', 1)
  t.strictSame(counts(leaving), [1, 1, 1])
})

/** Sends a call, and cuts the connection once `until` resolves. */
async function leave({ gateway: { port }, path }: Access, raw: string, until: () => Promise<unknown>) {
  const call = request({ port, host: '127.0.0.1', path, method: 'POST', headers: json })
  call.on('error', () => undefined).end(message(send, [raw]))
  await until()
  const over = new Promise(resolve => call.once('close', resolve))
  call.destroy()
  await over
}
const json = { 'content-type': 'application/json' }

t.test('a network with private routes sends there alone, and reads elsewhere', async t => {
  for (const name of names) relayed[name].on(send, result('"0x4"')).on('eth_gasPrice', result('"0x5"'))
  const access = accesses.in('relayed')
  t.match(await access.call(send, [transaction().raw]), { result: '0x4' })
  await relayed.c.arrived(send)
  t.strictSame(counts(relayed), [0, 1, 1])
  t.match(await access.call('eth_gasPrice'), { result: '0x5' })
  t.strictSame(counts(relayed, 'eth_gasPrice'), [1, 0, 0])

  for (const name of names) alone[name].on(send, result('"0x4"'))
  alone.b.on(send, resetBeforeReply).on('eth_sendRawTransactionSync', result('{"blockNumber":"0x1"}'))
  refused(t, await accesses.in('alone').post(message(send, [transaction().raw])), {
    reason: 'upstream_error',
    id: '1',
  })
  t.match(await accesses.in('alone').call('eth_sendRawTransactionSync', [transaction().raw]), {
    result: { blockNumber: '0x1' },
  })
  t.strictSame(counts(alone), [0, 2, 0], 'also where the private one fails: it is asked once more')
  t.strictSame(counts(alone, 'eth_sendRawTransactionSync'), [0, 1, 0])

  refused(t, await accesses.in('closed').post(message(send, [transaction().raw])), {
    reason: 'no_route',
    id: '1',
  })
  t.strictSame(counts(closed), [0, 0, 0], 'nor while it is switched off')
})

t.test('a drain does not wait for those that nobody waits for', async t => {
  const [quick, slow] = [await startNode(t, { chainId }), await startNode(t, { chainId })]
  quick.on(send, result('"0x6"'))
  slow.on(send, hang)
  const own = await startGateway(t, {
    networks: { alpha: { chainId, broadcast: 2 } },
    routes: [
      { id: 'alpha-a', network: 'alpha', http: quick.url },
      { id: 'alpha-b', network: 'alpha', http: slow.url, timeout: '60s' },
    ],
    gateway: { timeouts: { drain: '50s', drainIdle: '100ms' } },
  })
  const access = (await createAccesses(own, 'paid', ['alpha'])).in('alpha')
  await routesLookedAt(own)
  t.match(await access.call(send, [transaction().raw]), { result: '0x6' })
  t.equal(slow.count(send), 1)
  t.strictSame(await own.stop(), { code: 0, signal: null }, 'within the 20 s that the test allows')
  t.notMatch(own.printed, /internal error|uncaught|unhandled/i)
  await own.start()
  t.strictSame(await access.usage(), { requests: 1, calls: 1 })
})
