import t from 'tap'
import { randomInt } from 'node:crypto'
import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { total } from '../support/client-ledger.ts'
import { allCapabilities } from '../support/config-files.ts'
import { crampedDisks } from '../support/cramped-disk.ts'
import { prepareGateway, serve } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { LoadedAccess, mixedMethods } from '../support/ledger-load.ts'
import { meteredByMethod } from '../support/metered.ts'
import { Random } from '../support/random.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { until, within } from '../support/until.ts'

const node = await startSocketNode(t, { chainId: 1001 })
const random = new Random(randomInt(2 ** 32))

for (const disk of crampedDisks)
  t.test(`${disk.name}: nothing is served unmetered, and service goes on with room`, async t => {
    if (disk.missing !== undefined) return void t.pass(disk.missing, { skip: disk.missing })
    t.comment(`seed ${random.seed}`)
    const gateway = await prepareGateway(t, {
      networks: { alpha: { chainId: 1001, public: true } },
      routes: [
        { id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl, capabilities: allCapabilities },
      ],
      methods: mixedMethods,
    })
    disk.prepare(t, gateway)
    await gateway.start()
    const load = new LoadedAccess(await createAccess(gateway, 'paid', 'alpha'), random, { limited: true })
    const { access, ledger } = load
    const agent = new Agent({ keepAlive: true })
    t.teardown(() => {
      agent.destroy()
    })
    const send = (messages: number) =>
      Promise.all(Array.from({ length: messages }, () => load.post(load.message(), agent)))
    const unavailable = () => ledger.refusals.get('journal_unavailable') ?? 0
    const refusing = () =>
      until('calls are refused', async () => {
        const before = unavailable()
        await send(10)
        return unavailable() > before
      })
    const goesOn = () =>
      until('calls are served again', async () => {
        const before = unavailable()
        await load.post([load.call()], agent)
        return unavailable() === before
      })
    const exact = async (when: string) => {
      const metered = await meteredByMethod(access)
      t.strictSame(Object.fromEntries(metered), Object.fromEntries(ledger.told), when)
      t.strictSame(await access.usage(), total(ledger.told), when)
    }
    await send(50)
    for (let time = 1; time <= 2; time++) {
      const reader = await load.subscribed()
      const log = gateway.printed.length
      disk.fill(gateway)
      await refusing()
      await send(30)
      const refusal = await access.post(message('web3_sha3', ['0x00']))
      t.equal(refusal.status, 503)
      const { code, data } = JSON.parse(refusal.text).error
      t.match({ code, reason: data.reason }, { code: -32603, reason: 'journal_unavailable' })
      t.strictSame([...ledger.refusals.keys()], ['journal_unavailable'], 'and for no other reason')
      await until('the log says so', () =>
        Promise.resolve(gateway.printed.slice(log).includes('usage cannot be recorded')),
      )
      node.push('eth_subscribe', '{"number":"0x1"}')
      await reader.closed
      t.equal(reader.code, 1013, 'and no message of a subscription is sent for nothing')
      const ready = () => get(`${gateway.adminUrl}/readyz`)
      const unready = await ready()
      t.equal(unready.status, 503, 'a balancer is told')
      t.match(unready.text, /^journal_unavailable: .+\n$/, 'and why')
      const open = { path: '/alpha/v1/rpc/public', body: message('web3_sha3', ['0x00']) }
      t.equal((await gateway.send(open)).status, 200, 'what is billed to nobody goes on')
      disk.free(gateway)
      await until('it is ready again, though nobody calls', async () => (await ready()).status === 200)
      await goesOn()
      await send(50)
      await exact(`after time ${time}`)
    }

    disk.fill(gateway)
    await refusing()
    await gateway.kill9()
    await gateway.start()
    if (disk.outlivesProcess) {
      await refusing()
      await exact('after a start without room')
      disk.free(gateway)
      await goesOn()
    }
    await exact('after a kill without room')
    await send(20)
    await exact('and it goes on')
  })

t.test('a start that finds no room for its logs names the disk', async t => {
  const disk = crampedDisks.find(({ outlivesProcess }) => outlivesProcess)!
  if (disk.missing !== undefined) return void t.pass(disk.missing, { skip: disk.missing })
  const gateway = await prepareGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  })
  disk.prepare(t, gateway)
  await gateway.start()
  t.strictSame(await gateway.stop(), { code: 0, signal: null })
  const data = join(gateway.dir, 'data')
  // None at all, and as little as accounts.db takes and journal.db does not find.
  for (const [left, name] of [
    [0, 'accounts'],
    [40 * 1024, 'journal'],
  ] as const) {
    const { bavail, bsize } = statfsSync(data)
    writeFileSync(join(data, 'ballast'), Buffer.alloc(bavail * bsize - left))
    const start = serve(gateway.dir)
    t.strictSame(await within('a start that fails', start.exited), { code: 1, signal: null })
    t.equal(
      start.stderr,
      `tollgate: ${join(data, `${name}.db`)} cannot be used: the disk of ${data} is full\n`,
    )
    rmSync(join(data, 'ballast'))
  }
  await gateway.start()
})
