/** Backups of a gateway under load. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openUsageReader } from '../../src/stores/sqlite/usage/reader.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { Access, message } from '../support/access.ts'
import { Child, cleanEnvironment } from '../support/child.ts'
import { run, runProcess } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import type { Gateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { result } from '../support/node-replies.ts'
import { mainFile, nodeFile } from '../support/paths.ts'
import { startNode } from '../support/scripted-node.ts'
import { tempDir } from '../support/temp-dir.ts'

const CLIENTS = 6
const ENDPOINTS = 6
const node = await startNode(t, { chainId: 1001 })
node.on('eth_gasPrice', result('"0x1"'))

const config = (workers: number) => ({
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
  gateway: { workers, timeouts: { drain: '2s', drainIdle: '1s' } },
})

/** Makes one call after the other, each with the next of its endpoints and on a connection of that endpoint's own. */
class Client {
  acknowledged = 0
  begun = 0
  isOver = false
  readonly accountId: string
  readonly #ways: readonly { readonly access: Access; readonly agent: Agent }[]

  constructor(accesses: readonly Access[]) {
    this.accountId = accesses[0]!.accountId
    this.#ways = accesses.map(access => ({ access, agent: new Agent({ keepAlive: true, maxSockets: 1 }) }))
  }

  get endpoints(): readonly string[] {
    return this.#ways.map(({ access }) => access.endpointId)
  }

  async run(): Promise<void> {
    while (!this.isOver) {
      const { access, agent } = this.#ways[this.begun % this.#ways.length]!
      this.begun += 1
      const reply = await access.post(message('eth_gasPrice'), { agent })
      if (!reply.text.includes('"0x1"')) throw new Error(reply.text)
      this.acknowledged += 1
    }
    for (const { agent } of this.#ways) agent.destroy()
  }
}

async function makeClients(gateway: Gateway): Promise<Client[]> {
  const firsts = await Promise.all(
    Array.from({ length: CLIENTS }, () => createAccess(gateway, 'paid', 'alpha')),
  )
  return withAccounts(gateway, async store => {
    const clients: Client[] = []
    for (const first of firsts) {
      const accesses = [first]
      while (accesses.length < ENDPOINTS) {
        const made = await store.endpoints.create({ accountId: first.accountId, network: 'alpha' })
        if (typeof made === 'string') throw new Error(made)
        accesses.push(new Access(gateway, 'alpha', made.apiKey, made.id, first.accountId))
      }
      clients.push(new Client(accesses))
    }
    return clients
  })
}

/** What a data directory says of each client's endpoints, in their order. */
function countsIn(dataDir: string, clients: readonly Client[]): number[][] {
  const reader = openUsageReader(dataDir)
  try {
    return clients.map(({ accountId, endpoints }) => {
      const totals = reader.totals(accountId) as ReadonlyMap<string, { calls: number }>
      return endpoints.map(id => totals.get(id)?.calls ?? 0)
    })
  } finally {
    reader.close()
  }
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

for (const workers of [1, 2])
  t.test(`backups under load are of one moment each, ${workers} worker(s)`, async t => {
    const gateway = await startGateway(t, config(workers))
    const clients = await makeClients(gateway)
    const running = clients.map(client => client.run())
    await pause(500)
    const dir = await tempDir(t)
    const copies: { at: string; least: number[]; most: number[] }[] = []
    for (let n = 0; n < 5; n += 1) {
      const at = join(dir, `backup-${n}`)
      const least = clients.map(({ acknowledged }) => acknowledged)
      const { code, stderr } = await runProcess(['backup', at, '--config', gateway.dir])
      t.equal(code, 0, stderr)
      copies.push({ at, least, most: clients.map(({ begun }) => begun) })
      await pause(100)
    }
    for (const client of clients) client.isOver = true
    await Promise.all(running)
    for (const { at, least, most } of copies) {
      const data = `${at}-restored`
      t.match(await run(['restore', at, '--to', data]), {
        code: 0,
        stdout: /accounts 6, endpoints 36, calls \d+/,
      })
      const manifest = JSON.parse(readFileSync(join(at, 'manifest.json'), 'utf8'))
      const counts = countsIn(data, clients)
      t.equal(sum(counts.map(sum)), manifest.sums.calls)
      counts.forEach((each, i) => {
        t.ok(sum(each) >= least[i]! && sum(each) <= most[i]!, `${least[i]} <= ${sum(each)} <= ${most[i]}`)
        // Calls follow one another: what was counted is the first so many of them, whichever worker had each.
        const prefix = each.map((_, at) => Math.floor((sum(each) - at + ENDPOINTS - 1) / ENDPOINTS))
        t.strictSame(each, prefix, 'none is missing before one that is there')
      })
    }
    const { at } = copies.at(-1)!
    t.equal(statSync(at).mode & 0o777, 0o700)
    for (const name of readdirSync(at)) t.equal(statSync(join(at, name)).mode & 0o777, 0o600, name)
    t.notMatch(readdirSync(at), [/-wal|-shm/])
    await servesFrom(t, gateway, clients, at)
  })

/** A gateway that is started on a restored copy has its usage once, and its keys. */
async function servesFrom(t: Test, gateway: Gateway, clients: readonly Client[], at: string): Promise<void> {
  await gateway.stop()
  const data = join(gateway.dir, 'data')
  rmSync(data, { recursive: true })
  t.equal((await run(['restore', at, '--to', data])).code, 0)
  const before = countsIn(data, clients)
  await gateway.start()
  await pause(1_500)
  t.strictSame(countsIn(data, clients), before, 'what workers had not handed over is counted once')
  const [first] = clients
  const listed = await withAccounts(gateway, async store => store.endpoints.list(first!.accountId))
  const access = new Access(gateway, 'alpha', listed[0]!.apiKey)
  t.equal((await access.call('eth_gasPrice')).result, '0x1')
}

t.test('a backup that is killed is never taken for a whole one', async t => {
  const gateway = await startGateway(t, config(2))
  const clients = await makeClients(gateway)
  const running = clients.map(client => client.run())
  const dir = await tempDir(t)
  for (let n = 0; n < 8; n += 1) {
    const at = join(dir, `killed-${n}`)
    const command = new Child(nodeFile, [mainFile, 'backup', at, '--config', gateway.dir], cleanEnvironment())
    await pause(250 + 30 * n)
    await command.stop('SIGKILL').catch(() => undefined)
    if (existsSync(at)) t.equal((await run(['restore', at, '--to', `${at}-data`])).code, 0, 'it was over')
  }
  for (const name of readdirSync(dir).filter(name => name.includes('partial')))
    t.match(await run(['restore', join(dir, name), '--to', join(dir, 'data')]), {
      code: 1,
      stderr: /is missing: this is not a whole backup/,
    })
  for (const client of clients) client.isOver = true
  await Promise.all(running)
})
