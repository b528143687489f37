/** A keeper that follows another one has probed nothing yet, while the workers serve: that is not a network that is down. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { Gate } from '../support/gate.ts'
import { LogReader } from '../support/log-lines.ts'
import { result } from '../support/node-replies.ts'
import { until } from '../support/until.ts'
import { crewOf, isAlive, kill9, restart, startTwoWorkers } from '../support/workers.ts'

const DOWN = 'every route of the network is down'
const UP = 'the network has a route again'

/** Longer than a route that nobody has asked before gets for its first answer. */
const SLOWLY = 1_500

const chain = 1001
const { node, gateway } = await startTwoWorkers(t)
const access = await createAccess(gateway, 'paid', 'alpha')
const log = new LogReader(gateway)
await gateway.headKnown('alpha')
const started = log.all().length

/** What the log says of the network, in order; before its first head it may be down. */
const told = () =>
  log
    .all()
    .slice(started)
    .filter(({ msg }) => msg === DOWN || msg === UP)

const headIs = (head: number) =>
  until(`the head is ${head}`, async () => {
    const status = await gateway.status().catch(() => null)
    return status?.networks[0].routes[0].head === head
  })

/** `meanwhile` is what happens while nobody probes. */
async function killKeeper(meanwhile: () => Promise<void> = () => Promise.resolve()): Promise<void> {
  const { keeper } = await crewOf(gateway, 2)
  process.kill(keeper, 'SIGSTOP')
  await meanwhile()
  kill9(keeper)
  await until('it is gone', () => Promise.resolve(!isAlive(keeper)))
}

/** Answers no probe until the gate is open. */
function holdProbes(): Gate {
  const gate = new Gate()
  for (const [method, answer] of [
    ['eth_chainId', () => `"0x${chain.toString(16)}"`],
    ['eth_blockNumber', () => `"0x${node.head.toString(16)}"`],
  ] as const)
    node.on(method, async (request, response) => {
      await gate.pass()
      await result(answer())(request, response)
    })
  return gate
}

for (const [how, replace] of [
  ['a kill of the keeper', () => killKeeper()],
  ['a restart', () => restart(gateway)],
] as const)
  t.test(`bug: ${how} raised network.down where the node answers slowly`, async t => {
    const before = await crewOf(gateway, 2)
    await headIs(node.head)
    const old = node.head
    const from = node.count('eth_chainId')
    const gate = holdProbes()
    await replace()
    await until('it is gone', () => Promise.resolve(!isAlive(before.keeper)), 60_000)
    await node.arrived('eth_chainId', from + 1)
    const odd = new Set<string>()
    const end = performance.now() + SLOWLY
    let looks = 0
    while (performance.now() < end) {
      const status = await gateway.status().catch(() => null)
      if (status !== null) {
        looks += 1
        const [{ head, routes }] = status.networks
        if (head !== old || routes[0].head !== old || routes[0].healthy !== true)
          odd.add(JSON.stringify({ ...routes[0], network: head, latencyMs: 0, inFlight: 0 }))
      }
      if ((await access.call('eth_gasPrice')).result !== '0x1') odd.add('a call is refused')
      await pause(50)
    }
    node.head += 1
    gate.open()
    await headIs(node.head)
    t.ok(looks > 0)
    t.strictSame([...odd], [])
    t.strictSame(told(), [])
  })

t.test('a keeper raises the alarm that is due, the next not again, and one after it ends it', async t => {
  const words = () => told().map(({ msg }) => msg)
  await until('the restart is over', async () => (await gateway.status()).restarting === null, 60_000)
  await killKeeper(() => node.close())
  await until('it is told', () => Promise.resolve(words().length > 0))
  t.match(told(), [{ msg: DOWN, network: 'alpha', why: /^alpha-a: it has not answered yet/ }])
  await killKeeper()
  await until('the next one has probed', async () => {
    const status = await gateway.status().catch(() => null)
    const why = String(status?.networks[0].routes[0].why)
    // What it has only from a worker it says so of.
    return why.startsWith('it has not answered yet') && !why.includes('at worker')
  })
  t.strictSame(words(), [DOWN])
  await killKeeper(() => node.listen())
  await until('it is over', () => Promise.resolve(words().length > 1))
  t.strictSame(words(), [DOWN, UP])
  t.ok(Number(told()[1]!['downMs']) > 500, 'from when the first of them raised it')
  const kept = await readFile(join(gateway.dir, 'data', 'state.json'), 'utf8')
  t.strictSame((JSON.parse(kept) as { readonly networksDown: unknown }).networksDown, {})
})
