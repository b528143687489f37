import { rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { Asking } from '../../../src/limits/asking.ts'
import { CallLimits } from '../../../src/limits/limits.ts'
import { systemClock } from '../../../src/ports/clock.ts'
import { isRefusal } from '../../../src/refusal/refusal.ts'
import { openUsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'
import { HandedOver } from '../../../src/stores/sqlite/usage/journals/hand-over.ts'
import { frameOf } from '../../../src/runtime/workers/channel.ts'
import { eventsTo, NOW, payer, plan, reading } from '../../stores/usage/parts.ts'
import { connectWorker, silent, keeperAt, startKeeper } from '../../support/keeper.ts'
import { until } from '../../support/until.ts'

const spender = { payer: { ...payer, plan: { ...plan, quota: null } }, plan, address: '192.0.2.1' }

t.test('only its own user may speak to it', async t => {
  const { path } = await startKeeper(t)
  t.equal(statSync(path).mode & 0o777, 0o600)
})

t.test('what is no message ends the connection, and nobody else’s', async t => {
  const { keeper, path } = await startKeeper(t)
  await connectWorker(t, path)
  await until('it is known', () => Promise.resolve(keeper.slots.length === 1))
  const socket = connect(path)
    .on('error', () => undefined)
    .resume()
  socket.write(Buffer.from([255, 255, 255, 255]))
  await once(socket, 'close')
  const other = connect(path)
    .on('error', () => undefined)
    .resume()
  other.write(Buffer.concat([frameOf({ t: 'unknown' }), Buffer.from([0, 0, 0, 2]), Buffer.from('{{')]))
  await once(other, 'close')
  t.strictSame(keeper.slots, [1])
})

t.test('workers share a rate, whichever the calls come to', async t => {
  const { path } = await startKeeper(t)
  const all = await Promise.all(
    [1, 2, 3, 4].map(async slot => {
      const store = await connectWorker(t, path, { slot })
      const asking = new Asking({ store, clock: systemClock, every: 25, processes: 4 })
      t.teardown(() => asking.close())
      return new CallLimits(asking, () => 0)
    }),
  )
  const begin = Date.now()
  const taken = await Promise.all(
    Array.from({ length: 4_000 }, async (_, i) =>
      all[i % 4]!.take(spender, { units: 1, isRated: true }, Date.now()),
    ),
  )
  const admitted = taken.filter(one => !isRefusal(one)).length
  const { perSecond, burst } = plan.rate
  const most = burst + ((Date.now() - begin) * perSecond) / 1000
  t.ok(admitted >= burst * 0.95 && admitted <= most * 1.05, `${admitted} of ${burst} to ${Math.round(most)}`)
})

t.test('a keeper that is killed and comes again has all that was charged meanwhile, once', async t => {
  const dir = t.testdir({})
  const ledger = openUsageDatabase(dir)
  const { keeper, path } = await startKeeper(t, { takeOver: (...batch) => ledger.take(...batch) })
  let connections = 0
  const client = await connectWorker(t, path, { connected: () => (connections += 1) })
  const file = 'journal-1-00000000000000aa.db'
  const journal = new HandedOver(
    openUsageDatabase(dir, file),
    file,
    eventsTo(() => undefined),
    batch => client.takeOver(batch),
  )
  const charge = async (): Promise<boolean> => journal.charging.charge(payer, 'eth_call', 3, 0, NOW).commit()
  t.ok(await charge())
  t.ok(await journal.handOver())
  await keeper.close()
  await until('it is noticed', () => Promise.resolve(!client.isConnected))
  t.ok(await charge(), 'calls are charged without it')
  t.notOk(await journal.handOver())
  await t.rejects(client.totals('acc_1'), { message: 'the keeper is away' }, 'and nobody waits')
  // It takes the batch, and is killed before the worker hears of it.
  const dying = await keeperAt(t, path, {
    takeOver: (...batch) => {
      ledger.take(...batch)
      void dying.close()
    },
  })
  await until('it is connected', () => Promise.resolve(connections === 2))
  t.notOk(await journal.handOver())
  t.ok(await charge())
  await keeperAt(t, path, { takeOver: (...batch) => ledger.take(...batch) })
  await until('it is connected again', () => Promise.resolve(connections === 3))
  t.ok(await journal.close())
  t.match(reading(dir).rows({ from: 0, to: NOW, by: 'day' }), [{ calls: 3, requests: 9 }])
  rmSync(join(dir, file))
  ledger.close()
})

t.test('bug: what is read of usage failed when the keeper was killed with the question', async t => {
  let isAsked = (): void => undefined
  const asked = new Promise<void>(resolve => (isAsked = resolve))
  const { keeper, path } = await startKeeper(t, {
    ledger: {
      totals: () => (isAsked(), new Promise(() => undefined)),
      sum: () => new Promise(() => undefined),
    },
    used: () => 0,
  })
  const client = await connectWorker(t, path)
  const query = {
    accountId: 'acc_1',
    endpointId: null,
    network: null,
    method: null,
    from: 0,
    to: NOW,
    by: 'day' as const,
    groupBy: [],
    detail: false,
    top: null,
    after: null,
  } as const
  const read = Promise.all([client.sum(query), client.totals('acc_1')])
  await asked
  await keeper.close()
  await keeperAt(t, path, {
    ledger: {
      totals: () => new Map([['ep_1', { calls: 2, requests: 5 }]]),
      sum: () => Promise.resolve({ rows: '[]', last: null }),
    },
  })
  t.strictSame(await read, [{ rows: '[]', last: null }, new Map([['ep_1', { calls: 2, requests: 5 }]])])
})

t.test('a worker that does not answer holds nobody up', async t => {
  const { keeper, path } = await startKeeper(t)
  await connectWorker(t, path, { answers: { ...silent, held: () => new Promise(() => undefined) } })
  await until('it is known', () => Promise.resolve(keeper.slots.length === 1))
  await keeper.gather()
  t.pass('what it said last counts')
})

t.test('what a worker says for all is heard by the others, and by no one else', async t => {
  const heard: string[] = []
  const { keeper, path } = await startKeeper(t, {
    heard: ({ t: what }) => {
      heard.push(`the keeper: ${what}`)
    },
  })
  const [first] = await Promise.all(
    [1, 2, 3].map(async slot =>
      connectWorker(t, path, {
        slot,
        heard: ({ t: what }) => {
          heard.push(`worker ${slot}: ${what}`)
        },
      }),
    ),
  )
  await until('all are known', () => Promise.resolve(keeper.slots.length === 3))
  first!.say({ t: 'suspect', route: 'eth-a' })
  first!.say({ t: 'accounts' })
  await until('all have heard', () => Promise.resolve(heard.length >= 4))
  t.strictSame(heard.toSorted(), [
    'the keeper: accounts',
    'the keeper: suspect',
    'worker 2: accounts',
    'worker 3: accounts',
  ])
})
