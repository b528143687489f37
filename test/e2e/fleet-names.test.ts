import t from 'tap'
import { run } from '../support/cli.ts'
import { FLEET_ENV, startFleet } from '../support/fleet.ts'
import { noServers } from '../support/servers.ts'
import { until } from '../support/until.ts'

t.test('bug: two machines of one name were listed without a word', { skip: noServers }, async t => {
  const name = { name: 'same' }
  const fleet = await startFleet(
    t,
    {
      networks: { alpha: { chainId: 1001 } },
      routes: [{ id: 'alpha-a', network: 'alpha', http: 'http://127.0.0.1:1' }],
      gateway: { log: { level: 'info' } },
    },
    [{ node: name }, { node: name }, {}],
  )
  await until('all are listed', async () => {
    const rows = await fleet.query('SELECT count(*)::int AS rows FROM node')
    return rows[0].rows === 3
  })
  const listed = await run(['nodes', '--config', fleet.gateways[0]!.dir], FLEET_ENV)
  t.match(listed, {
    code: 0,
    stderr: /^tollgate: several gateways that are there are called same: give each a node\.name of its own/,
  })
  t.equal(listed.stderr.trim().split('\n').length, 1, listed.stderr)
  const [first, second] = await fleet.query(`SELECT id FROM node WHERE name = 'same' ORDER BY started_at`)
  t.not(first.id, second.id)
  const named = () =>
    fleet.gateways.flatMap(gateway =>
      gateway.printed
        .split('\n')
        .filter(line => line.includes('another gateway that is there has the same name'))
        .map(line => JSON.parse(line) as object),
    )
  await until('the later one logs it', () => Promise.resolve(named().length > 0))
  t.match(named(), [{ id: first.id }], 'and it alone')
})
