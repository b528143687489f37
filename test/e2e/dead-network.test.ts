/** A network whose upstreams do not answer: the log says so at once, and explain does not call it served. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import t from 'tap'
import { run } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { freePort } from '../support/free-port.ts'
import { startGateway } from '../support/gateway.ts'
import { LogReader, type LogLine } from '../support/log-lines.ts'
import { routesOf } from '../support/route-status.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

const DOWN = 'every route of the network is down'
const UP = 'the network has a route again'

// Takes connections and never answers.
const mute = createServer().listen(0, '127.0.0.1')
await once(mute, 'listening')
t.teardown(() => mute.close())
const { port: mutePort } = mute.address() as { port: number }
const refusing = await freePort()
const node = await startNode(t, { chainId: 1001 })

const networks = { alive: { chainId: 1001 }, dead: { chainId: 1002 }, silent: { chainId: 1003 } }
const to = (port: number | string) => `http://127.0.0.1:${port}`
const routes = [
  { id: 'alive-a', network: 'alive', http: node.url },
  { id: 'alive-b', network: 'alive', http: to(await freePort()) },
  { id: 'dead-a', network: 'dead', http: to(refusing) },
  { id: 'dead-b', network: 'dead', http: to(refusing) },
  { id: 'silent-a', network: 'silent', http: to(mutePort) },
]
const gateway = await startGateway(t, {
  networks,
  methods: fewMethods,
  routes,
  gateway: { log: { level: 'info' } },
})
const log = new LogReader(gateway)

/** What the log says of networks, in order. */
const told = (msg: string) => log.all().filter(line => line.msg === msg)
const explain = (network: string, ...more: string[]) =>
  run(['explain', network, 'web3_sha3', '--config', gateway.dir, ...more])

t.test(
  'serve says of each network without a route that it has none, once, within a second of ready',
  async t => {
    await until('both are told', () => Promise.resolve(told(DOWN).length >= 2))
    const lines = told(DOWN)
    t.strictSame(lines.map(({ network }) => network).sort(), ['dead', 'silent'])
    const [dead, silent] = ['dead', 'silent'].map(slug => lines.find(({ network }) => network === slug)!)
    t.match(
      dead!['why'],
      /^dead-a: it has not answered yet \(last: unreachable: ECONNREFUSED\); dead-b: it has not answered yet \(last: unreachable: ECONNREFUSED\)$/,
    )
    t.equal(silent!['why'], 'silent-a: it has not answered yet (last: no reply)')
    const timeOf = (line: LogLine) => Date.parse(String(line['time']))
    const ready = log.all().find(({ msg }) => msg === 'ready')!
    for (const line of lines)
      t.comment(`${String(line['network'])}: ${timeOf(line) - timeOf(ready)} ms after ready`)
  },
)

t.test('/status calls a route that has never answered unhealthy, in the words of the log', async t => {
  const routes = await routesOf(gateway)
  const of = (id: string) => routes.find(route => route.id === id)!
  t.match(of('alive-a'), { healthy: true, why: undefined })
  t.match(of('silent-a'), { healthy: false, why: 'it has not answered yet (last: no reply)' })
  t.match(of('dead-a'), { healthy: false, why: /^it has not answered yet|^circuit open/ })
})

t.test(
  'explain refuses what no route can serve now, and exits 1; the network beside it is served',
  async t => {
    for (const slug of ['dead', 'silent']) {
      const { code, stdout } = await explain(slug)
      t.equal(code, 1, slug)
      t.match(stdout, /is refused with no_route: Every route that could serve the call is down\./)
      t.match(stdout, /skipped now: it has not answered yet/)
      t.match(stdout, /change +look at the upstreams/)
      t.notMatch(stdout, /is sent/)
      t.match(JSON.parse((await explain(slug, '--json')).stdout), {
        live: true,
        outcome: 'refuse',
        reason: 'no_route',
      })
    }
    const alive = await explain('alive')
    t.equal(alive.code, 0)
    t.match(alive.stdout, /is sent to alive-a\./)
  },
)

t.test('what comes up is told with its duration, and served', async t => {
  const late = await startNode(t, { chainId: 1002 })
  const door = createServer(socket => {
    const inner = connect(late.port, '127.0.0.1')
    socket.pipe(inner).pipe(socket)
    for (const each of [socket, inner]) each.on('error', () => undefined)
  }).listen(refusing, '127.0.0.1')
  await once(door, 'listening')
  t.teardown(() => door.close())
  await until('it is told', () => Promise.resolve(told(UP).length > 0))
  const [line, ...others] = told(UP)
  t.strictSame(others, [])
  t.equal(line!['network'], 'dead')
  t.type(line!['downMs'], 'number')
  t.equal((await explain('dead')).code, 0)
  t.equal(told(DOWN).length, 2, 'and nothing twice')
})
