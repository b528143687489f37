import t from 'tap'
import pg from 'pg'
import { startFleet } from '../support/fleet.ts'
import { result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { noServers } from '../support/servers.ts'
import { until } from '../support/until.ts'

t.test(
  'bug: a gateway whose user PostgreSQL did not let in any more could not be started again, nor its keeper',
  { skip: noServers },
  async t => {
    const node = await startNode(t, { chainId: 1001 })
    node.on('web3_sha3', result('"ok"'))
    const fleet = await startFleet(
      t,
      {
        networks: { alpha: { chainId: 1001 } },
        routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
      },
      [{}],
    )
    const [gateway, access] = [fleet.gateways[0]!, fleet.accesses[0]!]
    await fleet.query('CREATE ROLE other SUPERUSER LOGIN')
    const other = new pg.Client(fleet.postgres.url.replace('tollgate@', 'other@'))
    await other.connect()
    t.teardown(() => other.end())
    await other.query('ALTER ROLE tollgate NOLOGIN')
    await other.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'tollgate'`)
    const create = async () => (await access.call('service_createEndpoint', [{ chain: 'alpha' }])) as unknown
    t.match(await create(), { error: { data: { reason: 'store_unavailable' } } })

    await gateway.kill9()
    await gateway.start()
    t.match(await access.call('web3_sha3', ['0x00']), { result: 'ok' })
    t.match(await create(), { error: { data: { reason: 'store_unavailable' } } })
    await other.query('ALTER ROLE tollgate LOGIN')
    await until('it is let in', async () => {
      const { result } = await access.call('service_createEndpoint', [{ chain: 'alpha' }])
      return result !== undefined
    })
    await until('usage is reported', async () => (await fleet.sums()).usage === 1)
  },
)
