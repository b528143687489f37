/** Data directories of a fleet that are copied or put back, and a clock that is wrong: nothing is counted twice, and nothing is missing. */
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { startFaultyFleet } from '../support/faulty-fleet.ts'
import type { Gateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { metric } from '../support/metrics.ts'
import { noServers } from '../support/servers.ts'
import { shiftedClock } from '../support/shifted-clock.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { kill9 } from '../support/workers.ts'

const HOUR = 3_600_000
/** What a machine says that goes on as another node. */
const FORKED = 'under a new id'

t.test('data of a fleet', { skip: noServers, timeout: 280_000 }, async t => {
  const fleet = await startFaultyFleet(t)
  const { gateways, load, toPostgres } = fleet
  const [, second] = gateways as [Gateway, Gateway]
  const data = (gateway: Gateway) => join(gateway.dir, 'data')
  const replace = async (gateway: Gateway, from: string) => {
    await rm(data(gateway), { recursive: true })
    // The socket of a killed keeper is no file.
    await cp(from, data(gateway), { recursive: true, filter: path => !path.endsWith('.sock') })
  }
  const forks = () => gateways.map(({ printed }) => printed.split(FORKED).length - 1)
  /** Waits until one of two copies is another node, or has stopped to report; that one is started anew. */
  const parted = async (before: readonly number[]): Promise<void> => {
    const [how, i] = await until('one of them goes on as another node', async () => {
      for (const [i, gateway] of gateways.entries()) {
        if (forks()[i]! > before[i]!) return ['forked', i] as const
        if ((await metric(gateway, 'tollgate_spool_fenced')) === 1) return ['fenced', i] as const
      }
      return undefined
    })
    if (how === 'fenced') await fleet.restart(i, gateway => gateway.stop())
  }

  await t.test('a clock that is an hour ahead', async t => {
    const hours = async () => (await fleet.query('SELECT DISTINCT hour FROM usage WHERE node <> 0')).length
    await load.send(50)
    await fleet.hold(t, 'before')
    const before = await hours()
    await fleet.restart(1, gateway => gateway.stop(), shiftedClock(HOUR))
    await load.send(50, async () => {
      const ready = await until('it is not ready', async () => {
        const reply = await get(`${second.adminUrl}/readyz`)
        return reply.status === 503 && reply
      })
      t.match(ready.text, /^clock_skew: 3[56]\d\d\.\d s from PostgreSQL's clock/)
      t.ok(Math.abs((await metric(second, 'tollgate_clock_skew_seconds')) - 3_600) < 60)
    })
    await fleet.hold(t, 'an hour ahead')
    t.ok((await hours()) > before, 'its calls are in hours of its clock')
    await load.send(50, () => fleet.restart(1, gateway => gateway.stop()))
    await fleet.hold(t, 'the clock is right again')
    t.equal((await get(`${second.adminUrl}/readyz`)).status, 200)
  })

  await t.test('bug: a machine that was started with a clock three days ahead', async t => {
    await load.send(50, () => fleet.restart(1, gateway => gateway.stop(), shiftedClock(72 * HOUR)))
    await fleet.hold(t, 'three days ahead')
    const [{ final }] = await fleet.query('SELECT max(rolled)::float8 * 1000 AS final FROM node')
    t.ok(final < Date.now(), 'no hour is final that is not over')
    await load.send(50, () => fleet.restart(1, gateway => gateway.stop()))
    await fleet.hold(t, 'the clock is right again')
  })

  await t.test('an old data directory is put back', async t => {
    const old = join(await tempDir(t), 'old')
    await load.send(50, () =>
      fleet.restart(1, async gateway => {
        load.down.add(1)
        await gateway.stop()
        await cp(data(gateway), old, { recursive: true })
        await gateway.start()
        load.down.delete(1)
        await load.send(20)
        load.down.add(1)
        await gateway.stop()
        await replace(gateway, old)
      }),
    )
    await fleet.hold(t, 'put back')
    t.strictSame(forks(), [0, 1])
  })

  await t.test('a copy is started beside the machine that it is of', async t => {
    const before = forks()
    const copy = join(await tempDir(t), 'copy')
    await load.send(50, async () => {
      await fleet.restart(0, async gateway => {
        load.down.add(0)
        await gateway.stop()
        await cp(data(gateway), copy, { recursive: true })
      })
      await fleet.restart(1, async gateway => {
        load.down.add(1)
        await gateway.stop()
        await replace(gateway, copy)
      })
      await parted(before)
    })
    await fleet.hold(t, 'a copy')
  })

  await t.test('two copies of what a killed machine had not reported', async t => {
    const before = forks()
    await load.send(50, async () => {
      load.down.add(1)
      await second.stop()
      toPostgres[0]!.isCut = true
      await load.send(50)
      let starting: Promise<void> | undefined
      await fleet.restart(0, async (gateway, pids) => {
        load.down.add(0)
        pids.forEach(kill9)
        await gateway.exited
        await replace(second, data(gateway))
        toPostgres[0]!.isCut = false
        starting = second.start()
      })
      await starting
      load.down.delete(1)
      await parted(before)
    })
    await fleet.hold(t, 'two copies')
  })
})
