/** A route that lacks a method is asked for it once by each caller, until a probe was told so too: then by nobody. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
import { startGateway } from '../support/gateway.ts'
import { metric } from '../support/metrics.ts'
import { error, result, type Handler } from '../support/node-replies.ts'
import { routesLookedAt, routesOf } from '../support/route-status.ts'
import { startNode, type ScriptedNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

const chainId = 1001
const start = () => startNode(t, { chainId })
const [poor, rich, oneOfNone, otherOfNone] = [await start(), await start(), await start(), await start()]
const words = 'the method eth_gasPrice does not exist/is not available'
const lacks: Handler = error(`{"code":-32601,"message":"${words}"}`)
poor.otherwise(result('"poor"'))
rich.otherwise(result('"rich"'))
for (const method of ['eth_gasPrice', 'eth_maxPriorityFeePerGas', 'alpha_one', 'alpha_two'])
  poor.on(method, lacks)
oneOfNone.on('eth_gasPrice', lacks)
otherOfNone.on('eth_gasPrice', lacks)

const gateway = await startGateway(t, {
  networks: {
    alpha: {
      chainId,
      methods: { 'alpha_*': { retry: 'safe' }, eth_maxPriorityFeePerGas: { retry: 'never', cache: [] } },
    },
    none: { chainId, methods: { eth_gasPrice: {} } },
  },
  routes: [
    { id: 'alpha-poor', network: 'alpha', http: poor.url },
    { id: 'alpha-rich', network: 'alpha', http: rich.url, priority: 2 },
    { id: 'none-one', network: 'none', http: oneOfNone.url },
    { id: 'none-other', network: 'none', http: otherOfNone.url },
  ],
})
await routesLookedAt(gateway)
const [one, two, three] = [
  await createAccess(gateway, 'paid', 'alpha'),
  await createAccess(gateway, 'paid', 'alpha'),
  await createAccess(gateway, 'paid', 'alpha'),
]

/** How often clients have called a method of a node: of theirs the gateway draws the ids. */
const countOf = (node: ScriptedNode, method: string): number =>
  node.calls.filter(call => call.method === method && call.id !== '1').length

/** How often a method is called at a node while `made` calls are made. */
async function arrivals(node: ScriptedNode, method: string, made: () => Promise<unknown>): Promise<number> {
  const before = countOf(node, method)
  await made()
  return countOf(node, method) - before
}

/** Calls one behind the other, each of which has to be answered by the route that has the method. */
const times = (count: number, access: Access, method: string) => async () => {
  for (let i = 0; i < count; i += 1) t.match(await access.call(method, []), { result: 'rich' })
}

async function explained(method: string): Promise<string> {
  const { stdout } = await run(['explain', 'alpha', method, '--plan', 'paid', '--config', gateway.dir])
  return stdout
}

t.test(
  'a caller makes the detour once, and after a probe that was told the same no other one does',
  async t => {
    const method = 'eth_gasPrice'
    t.equal(await arrivals(poor, method, times(5, one, method)), 1)
    await until('the probe has been answered', async () => (await explained(method)).includes('skipped now'))
    t.equal(poor.count(method), 2, 'one probe')
    t.equal(await arrivals(poor, method, times(5, two, method)), 0)
    t.equal(await arrivals(poor, method, times(5, three, method)), 0)
    t.equal(rich.count(method), 15, 'each call was answered once')
    const [{ unsupported, healthy } = {}] = (await routesOf(gateway)) as readonly any[]
    t.match({ unsupported, healthy }, { unsupported: [method], healthy: true })
    t.equal(await metric(gateway, 'tollgate_route_unsupported_methods', { route: 'alpha-poor' }), 1)
    t.equal(await metric(gateway, 'tollgate_route_unsupported_methods', { route: 'alpha-rich' }), 0)
    t.match(
      await explained(method),
      /sent to alpha-rich\.[^]*alpha-poor +skipped now: it answered within the last 10 minutes that it does not have the method/,
    )
    t.match(await one.call('web3_clientVersion', []), { result: 'poor' }, 'other methods still go there')
  },
)

t.test('an answer to the params of one caller moves the calls of that caller alone', async t => {
  const method = 'eth_getCode'
  const short = error('{"code":-32602,"message":"missing value for required argument 0"}')
  poor.on(method, (request, response) => {
    const handler =
      request.params === '[]' ? short : request.params.includes('0xdead') ? lacks : result('"poor"')
    return handler(request, response)
  })
  const dead = ['0xdead'.padEnd(42, '0'), 'latest']
  const other = ['0x'.padEnd(42, '1'), 'latest']
  for (const access of [one, two]) t.match(await access.call(method, dead), { result: 'rich' })
  t.equal(
    await arrivals(poor, method, async () => t.match(await one.call(method, dead), { result: 'rich' })),
    0,
  )
  t.match(
    await explained(method),
    /alpha-poor +gets it: .*; it answered one caller that it does not have the method/,
  )
  t.match(await three.call(method, other), { result: 'poor' })
})

t.test('a call that may not be repeated is served once its caller has learned', async t => {
  const method = 'eth_maxPriorityFeePerGas'
  t.match(await one.call(method, []), { error: { code: -32601, message: words } }, "the node's own words")
  t.match(await one.call(method, []), { result: 'rich' })
  t.equal(poor.count(method), 1, 'it is no probe either')
})

t.test('nothing is learned of methods that only a pattern names: there is no end of them', async t => {
  const labels = { route: 'alpha-poor' }
  const before = await metric(gateway, 'tollgate_route_unsupported_methods', labels)
  t.equal(await arrivals(poor, 'alpha_one', times(3, one, 'alpha_one')), 3)
  t.equal(await arrivals(poor, 'alpha_two', times(3, one, 'alpha_two')), 3)
  t.equal(await metric(gateway, 'tollgate_route_unsupported_methods', labels), before)
})

t.test('of routes that all lack it one is asked, whose own words the client gets', async t => {
  const method = 'eth_gasPrice'
  const access = await createAccess(gateway, 'paid', 'none')
  const sum = () => countOf(oneOfNone, method) + countOf(otherOfNone, method)
  const lacking = { error: { code: -32601, message: words } }
  t.match(await access.call(method, []), lacking)
  t.equal(sum(), 2, 'both, as nothing was known')
  for (let i = 0; i < 10; i += 1) t.match(await access.call(method, []), lacking)
  t.equal(sum(), 12, 'one each')
  otherOfNone.on(method, result('"new"'))
  await until('the route that has it now is found', async () => 'result' in (await access.call(method, [])))
  const before = countOf(oneOfNone, method)
  for (let i = 0; i < 10; i += 1) t.match(await access.call(method, []), { result: 'new' })
  t.equal(countOf(oneOfNone, method), before, 'and the other one is no longer asked')
})

t.test('a reload has every route asked again', async t => {
  const file = join(gateway.dir, 'plans.yaml')
  const text = await readFile(file, 'utf8')
  const { version } = await gateway.status()
  await writeFile(file, text.replace(/perSecond: \d+/, 'perSecond: 12345'))
  await until('the edit is served', async () => (await gateway.status()).version !== version)
  poor.on('eth_gasPrice', result('"poor"'))
  t.match(await three.call('eth_gasPrice', []), { result: 'poor' })
})
