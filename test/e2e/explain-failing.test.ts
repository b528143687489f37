/** What `explain` says of a route just after a call or a subscription failed on it. */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
import { fewAndSubscribe } from '../support/few-methods.ts'
import { freePort } from '../support/free-port.ts'
import { startGateway } from '../support/gateway.ts'
import { LogReader } from '../support/log-lines.ts'
import { startNode } from '../support/scripted-node.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'

const [killed, deaf, well] = [
  await startNode(t, { chainId: 1001 }),
  await startNode(t, { chainId: 1002 }),
  await startSocketNode(t, { chainId: 1003 }),
]
const nowhere = `ws://127.0.0.1:${await freePort()}`
const gateway = await startGateway(t, {
  networks: { killed: { chainId: 1001 }, deaf: { chainId: 1002 }, spared: { chainId: 1003 } },
  routes: [
    { id: 'killed-a', network: 'killed', http: killed.url },
    { id: 'deaf-a', network: 'deaf', http: deaf.url, ws: nowhere },
    { id: 'spared-a', network: 'spared', http: well.url, ws: nowhere },
    { id: 'spared-b', network: 'spared', http: well.url, ws: well.wsUrl, priority: 2 },
  ],
  methods: fewAndSubscribe,
  gateway: { log: { level: 'info' } },
})
const log = new LogReader(gateway)
const explain = (network: string, method: string) =>
  run(['explain', network, method, '--config', gateway.dir])

t.test('a node that was killed: the failure of the last call is shown', async t => {
  const access = await createAccess(gateway, 'paid', 'killed')
  t.equal((await access.post(message('web3_sha3', ['0x00']))).status, 200)
  t.notMatch((await explain('killed', 'web3_sha3')).stdout, 'last failure')
  await killed.close()
  t.not((await access.post(message('web3_sha3', ['0x00']))).status, 200)
  const { stdout } = await explain('killed', 'web3_sha3')
  t.match(stdout, /killed-a .*(; last failure: [\w: ]+, \d+ s ago|\(last: [\w: ]+\))$/m)
})

const subscribe = async (network: string) => {
  const client = await openClient(t, await createAccess(gateway, 'paid', network))
  client.send(message('eth_subscribe', ['newHeads']))
  await client.when('an answer', () => client.frames.length > 0)
  return client.frames[0]
}

t.test('a WebSocket that cannot be connected to: explain says so, and the log once', async t => {
  t.match((await explain('deaf', 'eth_subscribe')).stdout, /retry +none: no other route/)
  for (let time = 0; time < 3; time++) t.match(await subscribe('deaf'), 'no_route')
  const { code, stdout } = await explain('deaf', 'eth_subscribe')
  t.equal(code, 1)
  t.match(stdout, /is refused with no_route/)
  t.match(stdout, /deaf-a +skipped now: its WebSocket cannot be reached: ECONNREFUSED/)
  t.match(await explain('deaf', 'web3_sha3'), { code: 0, stdout: /deaf-a +gets it/ }, 'calls go on')
  const lines = log.all().filter(({ route }) => route === 'deaf-a')
  t.match(lines, [{ msg: 'sockets of a route fail', why: 'it takes no connections: ECONNREFUSED' }])
  t.equal(lines.length, 1)
})

t.test('where another route has one, it is named', async t => {
  t.match(await subscribe('spared'), '"result"')
  const { code, stdout } = await explain('spared', 'eth_subscribe')
  t.equal(code, 0)
  t.match(stdout, 'is subscribed to over spared-b')
  t.match(stdout, /spared-a +skipped: its WebSocket cannot be reached: ECONNREFUSED/)
  t.match(stdout, /retry +none: no other route/)
})

t.test('a shell with another environment is told apart from an edit', async t => {
  const other = await startGateway(t, {
    networks: { alpha: { chainId: 1001, name: '${TEST_NAME:-Alpha}' } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: well.url }],
    methods: fewAndSubscribe,
  })
  const seen = async (env: Record<string, string>) =>
    (await run(['explain', 'alpha', 'web3_sha3', '--config', other.dir], env)).stdout
  t.notMatch(await seen({}), /environment|not that of these files/)
  const said = await seen({ TEST_NAME: 'Beta' })
  t.match(
    said,
    "the environment of this shell differs from the gateway's in a variable of these files: TEST_NAME",
  )
  t.notMatch(said, 'reload it')
  // A rejected edit: the gateway goes on with what it had.
  appendFileSync(join(other.dir, 'plans.yaml'), '\ncolour: red\n')
  t.match(await seen({}), 'these files have errors')
})
