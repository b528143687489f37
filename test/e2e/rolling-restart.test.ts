import { cp } from 'node:fs/promises'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { Access, message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startBalancer } from '../support/balancer.ts'
import { cleanEnvironment } from '../support/child.ts'
import { fewMethods } from '../support/few-methods.ts'
import { freePort } from '../support/free-port.ts'
import { findReady, prepareGateway, serve, type Gateway } from '../support/gateway.ts'
import { send } from '../support/http.ts'
import { echo } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import type { Teardown } from '../support/teardown.ts'
import { within } from '../support/until.ts'

const chainId = 1001

/** Two gateways, started, that know the same key, each with its own data. */
async function startBoth(t: Teardown): Promise<[Access, Access]> {
  const node = (await startNode(t, { chainId })).on('web3_sha3', echo)
  const prepare = async (): Promise<Gateway> =>
    prepareGateway(t, {
      networks: { alpha: { chainId } },
      routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
      methods: fewMethods,
      // Started again, each is where it was.
      gateway: {
        dataDir: '${TOLLGATE_DATA:-./data}',
        listen: `127.0.0.1:${await freePort()}`,
        admin: `127.0.0.1:${await freePort()}`,
      },
    })
  const [a, b] = [await prepare(), await prepare()]
  const access = await createAccess(a, 'paid', 'alpha')
  await cp(join(a.dir, 'data'), join(b.dir, 'data'), { recursive: true })
  await Promise.all([a.start(), b.start()])
  return [access, new Access(b, access.slug, access.key, access.endpointId, access.accountId)]
}

/** Calls one after the other, with a little thought between them, on connections that it keeps. */
async function client(port: number, path: string, isOver: () => boolean): Promise<string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const seen: string[] = []
  while (!isOver()) {
    const body = message('web3_sha3', [`0x${seen.length}`], seen.length)
    seen.push(
      await send(port, { path, body, agent }).then(
        ({ status, text }) =>
          text === `{"jsonrpc":"2.0","id":${seen.length},"result":["0x${seen.length}"]}`
            ? 'answered'
            : `${status} ${text}`,
        (error: unknown) => String(error),
      ),
    )
    await pause(Math.random() * 50)
  }
  agent.destroy()
  return seen
}

t.test('gateways with a data directory each share no accounts, and one serves a data directory', async t => {
  const [{ gateway: a }, { gateway: b }] = await startBoth(t)
  const { path } = await createAccess(a, 'free', 'alpha')
  const body = message('web3_sha3', ['0x'], 1)
  t.equal((await a.send({ path, body })).status, 200)
  t.match(await b.send({ path, body }), { status: 401, text: /invalid_key/ })
  t.same(await b.stop(), { code: 0, signal: null })
  const data = join(a.dir, 'data')
  const second = serve(b.dir, cleanEnvironment({ TOLLGATE_DATA: data }))
  t.equal((await within('the second ends', second.exited)).code, 1)
  t.match(second.stderr, `tollgate: another tollgate serve is using ${data}\n`)
  t.same(await a.stop(), { code: 0, signal: null })
  const third = serve(b.dir, cleanEnvironment({ TOLLGATE_DATA: data }))
  await third.output('ready', findReady)
  t.same(await third.stop('SIGTERM'), { code: 0, signal: null }, 'the data is free once the first has ended')
})

t.test('two gateways are restarted in turn: no call of 32 clients fails, each is charged once', async t => {
  const accesses = await startBoth(t)
  const gateways = accesses.map(({ gateway }) => gateway)
  const balancer = await startBalancer(t, gateways)
  let over = false
  const clients = Array.from({ length: 32 }, () => client(balancer.port, accesses[0].path, () => over))
  for (const gateway of [...gateways, ...gateways]) {
    t.same(await gateway.stop(), { code: 0, signal: null })
    await gateway.start()
    await balancer.sees(0, 1)
  }
  over = true
  const seen = (await Promise.all(clients)).flat()
  const failed = seen.filter(outcome => outcome !== 'answered')
  t.same(failed, [], `${seen.length} calls`)
  const usages = await Promise.all(accesses.map(access => access.usage()))
  for (const { calls } of usages) t.ok(calls > 0, 'both have served')
  t.equal(
    usages.reduce((sum, { calls }) => sum + calls, 0),
    seen.length - failed.length,
    'the two ledgers together hold what clients were answered',
  )
})
