import t from 'tap'
import { randomInt } from 'node:crypto'
import { Agent } from 'node:http'
import { message, type Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { allCapabilities } from '../support/config-files.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'

/** What is sent, and how many units it costs. */
const loads: [units: number, calls: number, body: string][] = [
  [1, 1, message('web3_sha3', ['0x00'])],
  [1, 1, message('eth_accounts')],
  [3, 1, message('eth_getBlockReceipts', ['latest'])],
  [5, 1, message('trace_transaction', [`0x${'ab'.repeat(32)}`])],
  [20, 1, message('debug_traceBlockByNumber', ['latest'])],
]
loads.push([
  loads.reduce((sum, [units]) => sum + units, 0),
  loads.length,
  `[${loads.map(([, , body]) => body).join()}]`,
])

/** What one endpoint was told was done, and what it asked for and never heard of again. */
class Account {
  readonly access: Access
  acknowledged = { units: 0, calls: 0 }
  unheard = { units: 0, calls: 0 }

  constructor(access: Access) {
    this.access = access
  }
}

t.test('no acknowledged call is unmetered after kill -9, and hardly one is metered for nothing', async t => {
  const node = await startNode(t, { chainId: 1001 })
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, capabilities: allCapabilities }],
  })
  const accounts = [
    new Account(await createAccess(gateway, 'paid', 'alpha')),
    new Account(await createAccess(gateway, 'paid', 'alpha')),
  ]

  for (let round = 1; round <= 4; round++) {
    const agent = new Agent({ keepAlive: true })
    const killAfter = randomInt(100, 2_000)
    let killed: Promise<void> | undefined
    let acknowledged = 0
    const work = async (account: Account) => {
      while (killed === undefined) {
        const [units, calls, body] = loads[randomInt(loads.length)]!
        const reply = await account.access.post(body, { agent }).catch(() => undefined)
        const heard = reply === undefined ? account.unheard : account.acknowledged
        heard.units += units
        heard.calls += calls
        if (reply !== undefined && reply.status !== 200) throw new Error(`refused: ${reply.text}`)
        if (reply !== undefined && ++acknowledged === killAfter) killed = gateway.kill9()
      }
    }
    await Promise.all(Array.from({ length: 24 }, (_, i) => work(accounts[i % 2]!)))
    await killed
    agent.destroy()
    await gateway.start()
    for (const { access, acknowledged: sure, unheard } of accounts) {
      const { requests, calls } = await access.usage()
      const where = `round ${round}, killed after ${killAfter}: ${requests} units, acknowledged ${sure.units}`
      t.ok(requests >= sure.units, `every acknowledged unit is metered; ${where}`)
      t.ok(calls >= sure.calls, `every acknowledged call is metered; ${where}`)
      t.ok(requests <= sure.units + unheard.units, `at most what was in flight is too much; ${where}`)
      t.ok(calls <= sure.calls + unheard.calls, `at most the calls in flight are too many; ${where}`)
    }
  }
  const unheard = accounts.reduce((sum, account) => sum + account.unheard.calls, 0)
  t.ok(unheard > 0, `calls were in flight when it was killed: ${unheard}`)
})
