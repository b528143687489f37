import t from 'tap'
import { makeDays, makePartitions } from '../../../../src/stores/postgres/usage/partitions.ts'
import { forgetNode, listNodes } from '../../../../src/stores/postgres/usage/nodes.ts'
import { rollUpNodes } from '../../../../src/stores/postgres/usage/roll-up.ts'
import { connectTo, latencyIn, Machine, sumsIn } from '../../../support/fleet-ledger.ts'
import { noServers, startPostgres } from '../../../support/servers.ts'
import { tempDir } from '../../../support/temp-dir.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

t.test(
  'hours that are final are added up over nodes, and days that are old',
  { skip: noServers },
  async t => {
    const server = await startPostgres(t)
    const postgres = await connectTo(t, server.url)
    const now = Date.now()
    await makePartitions(postgres, now)
    await makePartitions(postgres, now)
    const machines = await Promise.all(
      ['one', 'two'].map(async name => new Machine(await tempDir(t), postgres, { name })),
    )
    const charge = (): void => {
      for (const machine of machines)
        for (const ago of [0, 2 * DAY, 2 * DAY + HOUR, 5 * DAY]) {
          for (let i = 0; i < 20; i += 1)
            machine.charge({
              account: `acc_${i}`,
              endpoint: `ep_${i}`,
              now: now - ago,
              ms: i % 4 === 0 ? 30 : 2,
            })
          machine.refuse('eth_call', 'rate_limited', { now: now - ago })
        }
    }
    charge()
    // More than one transaction takes.
    for (let i = 0; i < 5_100; i += 1)
      machines[0]!.charge({ account: `acc_${i % 20}`, endpoint: `many_${i}`, now: now - 5 * DAY - 2 * HOUR })
    for (const { spool } of machines) await spool.flush()
    const before = await sumsIn(postgres)
    t.strictSame(before, { usage: 5_260, total: 5_260, quota_window: 5_260 })
    const latency = await latencyIn(postgres)
    t.strictSame(latency, { ms_2: 5_220, ms_50: 40 })
    const counts = () =>
      postgres.query(`SELECT final, rows, calls, refused FROM
      (SELECT node = 0 AS final, count(*) AS rows, sum(calls)::bigint AS calls FROM usage GROUP BY node = 0) AS u JOIN
      (SELECT node = 0 AS final, sum(count)::bigint AS refused FROM refusal GROUP BY node = 0) AS r USING (final) ORDER BY 1`)
    await Promise.all([rollUpNodes(postgres, now), rollUpNodes(postgres, now)])
    await rollUpNodes(postgres, now)
    t.strictSame(await counts(), [
      { final: false, rows: 40, calls: 40, refused: 2 },
      { final: true, rows: 5_160, calls: 5_220, refused: 6 },
    ])
    t.strictSame(await sumsIn(postgres), before, 'sums are what they were')
    t.strictSame(await latencyIn(postgres), latency)

    // What a PostgreSQL that is asked anew is sent of hours that are final changes nothing.
    machines[0]!.changes.resend(0)
    await machines[0]!.spool.flush()
    t.strictSame(await sumsIn(postgres), before)

    const byDay = () =>
      postgres.query(`SELECT hour / 86400 AS day, endpoint, sum(calls)::bigint AS calls, sum(requests)::bigint AS requests,
          sum(refusals)::bigint AS refusals, sum(bytes_out)::bigint AS bytes, sum(upstream_ms)::bigint AS ms
          FROM usage GROUP BY 1, 2
        UNION ALL SELECT hour / 86400, reason, sum(count)::bigint, 0, 0, 0, 0 FROM refusal GROUP BY 1, 2 ORDER BY 1, 2, 3`)
    const days = await byDay()
    const late = now + 100 * DAY
    await makePartitions(postgres, late)
    for (const machine of machines) machine.charge({ now: late })
    for (const { spool } of machines) await spool.flush()
    await postgres.query('UPDATE node SET upto = $1', [Math.floor(late / 1000)])
    await rollUpNodes(postgres, late + 2 * DAY)
    while (await makeDays(postgres, late));
    const sums = await sumsIn(postgres)
    t.strictSame(sums, { usage: 5_262, total: 5_262, quota_window: 5_262 })
    t.strictSame(await latencyIn(postgres), { ms_2: 5_222, ms_50: 40 })
    t.strictSame(await byDay(), [...days, ...(await byDay()).slice(days.length)], 'of each day, too')
    for (const table of ['usage', 'refusal'])
      t.strictSame(
        await postgres.query(`SELECT count(*) AS rows FROM ${table} WHERE hour % 86400 <> 0 AND hour < $1`, [
          Math.floor(late / DAY) * 86_400 - 90 * 86_400,
        ]),
        [{ rows: 0 }],
        'bug: what was used before there were tables was kept by the hour for ever',
      )
    for (const machine of machines) await machine.stop()
    t.strictSame(
      machines.map(({ heard }) => heard),
      [[], []],
    )
  },
)

t.test(
  'bug: usage of a machine that was forgotten and lived was lost, and it was not listed any more',
  { skip: noServers },
  async t => {
    const postgres = await connectTo(t, (await startPostgres(t)).url)
    const now = Date.now()
    await makePartitions(postgres, now)
    const machine = new Machine(await tempDir(t), postgres)
    machine.charge({ units: 5, now: now - 3 * HOUR })
    await machine.spool.flush()
    const { id } = (await listNodes(postgres))[0]!
    machine.charge({ units: 100, now: now - 2 * HOUR })
    machine.charge({ units: 7, now })
    t.ok(await forgetNode(postgres, id))
    t.strictSame(await listNodes(postgres), [])
    await rollUpNodes(postgres, now)
    await machine.spool.flush()
    t.strictSame(await sumsIn(postgres), { usage: 112, total: 112, quota_window: 112 })
    t.match(await listNodes(postgres), [{ id }])

    await machine.stop()
    await forgetNode(postgres, id)
    await rollUpNodes(postgres, now + 2 * DAY)
    const nodes = await postgres.query('SELECT node, sum(requests)::bigint AS requests FROM usage GROUP BY 1')
    t.strictSame(
      nodes,
      [
        { node: 0, requests: 105 },
        { node: 1, requests: 7 },
      ],
      'of one that is gone all is added up that it had said to be complete',
    )
  },
)

t.test(
  'bug: what a machine had not reported when it was forgotten was lost without a word when it came back days later',
  { skip: noServers },
  async t => {
    const postgres = await connectTo(t, (await startPostgres(t)).url)
    const now = Date.now()
    const then = now - 3 * DAY
    await makePartitions(postgres, now)
    const machine = new Machine(await tempDir(t), postgres)
    machine.charge({ units: 5, now: then })
    await machine.spool.flush()
    // That was then, and nothing could be reported since.
    await postgres.query('UPDATE node SET upto = $1', [Math.floor(then / HOUR) * 3600])
    machine.charge({ units: 100, now: then })
    machine.charge({ units: 200, now: then + HOUR })
    machine.refuse('eth_call', 'rate_limited', { now: then + HOUR })
    await forgetNode(postgres, (await listNodes(postgres))[0]!.id)
    await rollUpNodes(postgres, now)
    await machine.spool.flush()
    t.strictSame(await sumsIn(postgres), { usage: 305, total: 305, quota_window: 305 })
    t.strictSame(await postgres.query('SELECT sum(count)::bigint AS refused FROM refusal'), [{ refused: 1 }])
    await rollUpNodes(postgres, now)
    t.strictSame(await postgres.query('SELECT sum(requests)::bigint AS sum FROM usage WHERE node = 0'), [
      { sum: 305 },
    ])
    t.strictSame(machine.heard, [])

    // Hours of which older versions said that they are final.
    await postgres.query('UPDATE node SET rolled = $1', [Math.floor(now / HOUR) * 3600])
    machine.charge({ units: 9, now: then + 2 * HOUR })
    machine.charge({ units: 8, now: then + 3 * HOUR })
    machine.charge({ units: 7, now: now + HOUR })
    await machine.spool.flush()
    t.equal((await sumsIn(postgres)).usage, 312)
    const hour = (at: number): number => Math.floor(at / HOUR) * 3600
    t.strictSame(machine.late, [
      { requests: 17, calls: 2, from: hour(then + 2 * HOUR), to: hour(then + 3 * HOUR) },
    ])
    machine.charge({ units: 1, now: now + HOUR })
    await machine.spool.flush()
    t.equal(machine.late.length, 1, 'said once')
    await machine.stop()
  },
)
