import t from 'tap'
import type { Test } from 'tap'
import { Agent } from 'node:http'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import type { Gateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { result } from '../support/node-replies.ts'
import { Random } from '../support/random.ts'
import { startNode } from '../support/scripted-node.ts'
import { openClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'
import { childrenOf, crewOf, isAlive, kill9, restart } from '../support/workers.ts'
import { message } from '../support/access.ts'
import { fewMethods } from '../support/few-methods.ts'

const node = await startNode(t, { chainId: 1001 })
node.on('eth_gasPrice', result('"0x1"'))

async function start(t: Test, balance: string, drainIdle: string): Promise<Gateway> {
  return startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.url.replace('http', 'ws') }],
    methods: fewMethods,
    gateway: { workers: { count: 2, balance }, timeouts: { drain: '5s', drainIdle } },
  })
}

for (const balance of ['accept', 'roundRobin'])
  t.test(
    `another primary takes the sockets over, and no call or connection is lost (${balance})`,
    async t => {
      const gateway = await start(t, balance, '1s')
      const access = await createAccess(gateway, 'paid', 'alpha')
      const before = await crewOf(gateway, 2)
      const random = new Random(11)
      const failures: string[] = []
      let done = 0
      let isOver = false
      const clients = Array.from({ length: 32 }, async (_, i) => {
        // Half of them keep their connection, the others make one for each call.
        const agent = new Agent({ keepAlive: i % 2 === 0 })
        while (!isOver) {
          const reply = await access.post(message('eth_gasPrice'), { agent }).catch((error: unknown) => error)
          if (reply instanceof Error) failures.push(String(reply))
          else done += 1
          await new Promise(resolve => setTimeout(resolve, random.below(50)))
        }
        agent.destroy()
      })
      const socket = await openClient(t, access)
      const reply = await restart(gateway, { primary: true })
      t.equal(reply.status, 202)
      t.match(await socket.closed, { code: 1001 })
      t.strictSame(await gateway.exited, { code: 0, signal: null })
      t.strictSame([before.keeper, ...before.workers].filter(isAlive), [])
      const { pid, bound } = await until('the next one answers', async () => {
        const told = await get(`${gateway.adminUrl}/process`).catch(() => null)
        return told === null
          ? undefined
          : (JSON.parse(told.text) as { pid: number; bound: { listen: string } })
      })
      t.teardown(() => {
        kill9(pid)
      })
      t.not(pid, gateway.pid)
      t.equal(bound.listen, new URL(gateway.url).host)
      await until('it has its processes', () => Promise.resolve(childrenOf(pid).length === 3))
      isOver = true
      await Promise.all(clients)
      t.strictSame(failures, [])
      t.ok(done > 100, `${done} calls`)
      t.equal((await access.usage()).calls, done, 'each was charged once')
      const crew = childrenOf(pid)
      process.kill(pid, 'SIGTERM')
      await until('it ends with its processes', () => Promise.resolve(![pid, ...crew].some(isAlive)))
    },
  )

t.test('a new primary that does not start changes nothing', async t => {
  const gateway = await start(t, 'accept', '1s')
  const before = await crewOf(gateway, 2)
  const { writeFile, readFile } = await import('node:fs/promises')
  const plans = `${gateway.dir}/plans.yaml`
  const good = await readFile(plans)
  await writeFile(plans, 'plans: nonsense')
  await until('the edit is rejected', async () => (await gateway.status()).reload.ok === false)
  await restart(gateway, { primary: true })
  await until('it is said', () => Promise.resolve(gateway.printed.includes('the new primary did not start')))
  t.match(
    gateway.printed,
    /"why":"the configuration has .*plans\.yaml.*the new primary did not start/,
    'bug: the log did not say why',
  )
  await writeFile(plans, good)
  t.strictSame(await crewOf(gateway, 2), before)
  await until('another may be tried', async () => (await gateway.status()).restarting === null)
})

t.test('a stop while another primary takes over ends both', async t => {
  const gateway = await start(t, 'accept', '200ms')
  const before = await crewOf(gateway, 2)
  await restart(gateway, { primary: true })
  const own = [before.keeper, ...before.workers]
  const next = await until('the next one starts', () =>
    Promise.resolve(childrenOf(gateway.pid).find(pid => !own.includes(pid))),
  )
  t.strictSame(await gateway.stop(), { code: 0, signal: null })
  const crew = childrenOf(next)
  await until('nobody is left', () => Promise.resolve(![next, ...crew, ...own].some(isAlive)))
})
