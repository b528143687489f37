/** The database of another installation under the address of ours, as after a mistake in DNS: nothing is written to it, and nothing is lost. */
import t from 'tap'
import pg from 'pg'
import { message } from '../support/access.ts'
import { startFleet } from '../support/fleet.ts'
import { result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { noServers, startPostgres } from '../support/servers.ts'
import { until } from '../support/until.ts'

const CALLS = 50

t.test('another installation', { skip: noServers }, async t => {
  const node = await startNode(t, { chainId: 1001 })
  node.on('web3_sha3', result('"0x"'))
  const config = {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  }
  const server = await startPostgres(t)
  const theirs = await startFleet(t, config, [{}], { server, postgres: { schema: 'theirs' } })
  await theirs.accesses[0]!.post(message('web3_sha3', ['0x']))
  await theirs.gateways[0]!.stop()
  const ours = await startFleet(t, config, [{}], { server })
  const [gateway, access] = [ours.gateways[0]!, ours.accesses[0]!]

  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  t.teardown(() => client.end())
  const tables = async (schema: string) =>
    (
      await client.query<{ name: string }>(
        `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = $1 AND table_type = 'BASE TABLE' ORDER BY 1`,
        [schema],
      )
    ).rows.map(({ name }) => name)
  const contents = async (schema: string) => {
    const all: Record<string, unknown[]> = {}
    for (const name of await tables(schema))
      all[name] = (await client.query(`SELECT t::text FROM ${schema}.${name} AS t ORDER BY 1`)).rows
    return all
  }
  const lead = async (from: string, to: string) => {
    await client.query(
      `BEGIN; ALTER SCHEMA tollgate RENAME TO ${to}; ALTER SCHEMA ${from} RENAME TO tollgate; COMMIT`,
    )
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = 'tollgate'`,
    )
  }

  const before = await contents('theirs')
  await lead('theirs', 'ours')
  for (let i = 0; i < CALLS; i++) t.equal((await access.post(message('web3_sha3', ['0x']))).status, 200)
  const refused = () => gateway.printed.split('it is another database, or an empty one').length - 1
  await until('the gateway says so of accounts and of usage', () => Promise.resolve(refused() >= 2))
  const statements = async () =>
    Number((await client.query(`SELECT sum(xact_commit)::text AS n FROM pg_stat_database`)).rows[0].n)
  const from = await statements()
  await until('it has tried again', async () => (await statements()) > from + 20)
  t.strictSame(await contents('tollgate'), before, 'nothing of ours is there')

  await lead('ours', 'theirs')
  await until('all usage is reported', async () => (await ours.sums()).total === CALLS)
  t.strictSame(await ours.sums(), { usage: CALLS, total: CALLS, quota_window: 0 })
  t.strictSame(await contents('theirs'), before)
})
