import t from 'tap'
import { isPage } from '../../../../src/ports/ledger.ts'
import type { Column, SumsQuery } from '../../../../src/ports/ledger.ts'
import { FleetLedger } from '../../../../src/stores/postgres/usage/fleet-ledger.ts'
import { SumThreads, threadOn } from '../../../../src/stores/sqlite/usage/sums/threads.ts'
import { connectTo, Machine, NOW, postgresConfig } from '../../../support/fleet-ledger.ts'
import { noServers, startPostgres } from '../../../support/servers.ts'
import { tempDir } from '../../../support/temp-dir.ts'

const HOUR = 3_600_000
const GROUPS: readonly (readonly Column[])[] = [
  ['time', 'endpoint', 'network', 'method'],
  ['time', 'account'],
  ['time'],
  ['account', 'endpoint'],
  ['account'],
  ['endpoint', 'method'],
  ['network', 'method'],
  ['reason'],
  ['time', 'account', 'reason'],
  ['method', 'reason'],
  [],
]

t.test(
  'sums over all gateways are those of one that has charged everything, to the byte',
  { skip: noServers },
  async t => {
    const server = await startPostgres(t)
    const postgres = await connectTo(t, server.url)
    const dir = await tempDir(t)
    const whole = new Machine(dir, await connectTo(t, server.url, { schema: 'whole' }))
    const parts = await Promise.all(
      ['one', 'two'].map(async name => new Machine(await tempDir(t), postgres, { name })),
    )
    let seed = 7
    const random = (n: number): number => (seed = (seed * 48_271) % 2_147_483_647) % n
    for (let i = 0; i < 6_000; i += 1) {
      const account = random(5)
      const endpoint = random(4)
      const call = {
        account: `acc_${account}`,
        endpoint: `ep_${account}_${endpoint}`,
        network: `net${random(2)}`,
        method: `eth_${'Zaé_'[random(4)]!}${random(3)}`,
        units: random(4),
        now: NOW - random(60) * HOUR,
        plan: `plan${random(2)}`,
        error: random(3) === 0,
        bytesOut: random(900),
        ms: random(4) * random(3_000),
      }
      const part = parts[random(2)]!
      const owner = {
        account: { id: call.account, plan: call.plan },
        endpoint: { id: call.endpoint, network: call.network },
      }
      for (const machine of [whole, part])
        if (i % 5 === 0)
          machine.ledger.charging.refused(
            owner,
            call.method,
            ['z_last', 'rate_limited', 'Upper'][i % 3]!,
            call.now,
          )
        else machine.charge(call)
    }
    await whole.ledger.folded()
    const one = new SumThreads(threadOn(dir), { isLong: () => false, shorten: () => Promise.resolve() })
    await parts[1]!.spool.flush()
    const fleet = new FleetLedger({
      postgres,
      config: postgresConfig(server.url),
      spool: parts[0]!.spool,
      own: { totals: () => new Map(), sum: query => one.sum(query) },
    })
    const to = NOW / 1000 + 3600
    let compared = 0
    for (const groupBy of GROUPS)
      for (const by of ['hour', 'day'] as const)
        for (const accountId of [null, 'acc_3'])
          for (const detail of groupBy.includes('reason') ? [false] : [false, true])
            for (const top of [null, 2])
              for (const chosen of [{}, { network: 'net1' }, { method: 'eth_a1', endpointId: 'ep_3_1' }]) {
                const query: SumsQuery = {
                  accountId,
                  endpointId: null,
                  network: null,
                  method: null,
                  by,
                  groupBy,
                  detail,
                  top,
                  after: null,
                  from: to - 55 * 3600,
                  to,
                  ...chosen,
                }
                const [expected, found] = [await one.sum(query), await fleet.sum(query)]
                if (!isPage(expected) || !isPage(found)) throw new Error(JSON.stringify([expected, found]))
                compared += 1
                if (expected.rows !== found.rows || 'isStale' in found)
                  t.equal(found.rows, expected.rows, JSON.stringify(query))
                // Where a page would have ended.
                const rows = JSON.parse(expected.rows) as Record<string, string | number>[]
                const middle = rows[Math.floor(rows.length / 2)]
                if (top !== null || middle === undefined || groupBy.length === 0) continue
                const names = {
                  time: 'time',
                  account: 'accountId',
                  endpoint: 'endpointId',
                  network: 'network',
                  method: 'method',
                  reason: 'reason',
                }
                const next = { ...query, after: groupBy.map(column => middle[names[column]]!) }
                const pages = [await one.sum(next), await fleet.sum(next)]
                if (JSON.stringify(pages[0]) !== JSON.stringify(pages[1]))
                  t.strictSame(pages[1], pages[0], JSON.stringify(next))
              }
    t.ok(compared > 300, `${compared} queries`)
    await one.close()
    await fleet.close()
    for (const machine of [whole, ...parts]) await machine.stop(false)
  },
)
