/**
 * For how long a gateway with PostgreSQL holds its event loop at a time while another machine changes all endpoints, and while it reports usage of many.
 * `ENDPOINTS` makes it larger or smaller. Goal: 20 ms.
 */
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as pause } from 'node:timers/promises'
import { Child, cleanEnvironment } from '../test/support/child.ts'
import { startPostgres } from '../test/support/servers.ts'
import { until } from '../test/support/until.ts'
import { LOCAL } from './parts/calls.ts'
import { fill } from './parts/fill.ts'
import { load } from './parts/load.ts'
import { longestBlock, LOOP_DELAY } from './parts/loop-block.ts'
import { configFor, Processes } from './parts/processes.ts'

const ENDPOINTS = Number(process.env['ENDPOINTS'] ?? 100_000)
const KEYS = 5_000

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const endings: (() => unknown)[] = []
const server = await startPostgres({ teardown: end => void endings.push(end) })
const [here, elsewhere] = [new Processes(), new Processes()]
const keyFile = join(here.dataDir, 'master.key')
const env = cleanEnvironment({ TOLLGATE_MASTER_KEY_FILE: keyFile })

const files = {
  ...configFor('127.0.0.1:1'),
  'networks.yaml':
    'baseUrl: http://127.0.0.1:1/{slug}\nnetworks: { eth: &a { name: A, family: evm, chainId: 1 }, other: *a }',
  'routes.yaml':
    'routes: [{ id: a, network: eth, http: "http://127.0.0.1:1" }, { id: b, network: other, http: "http://127.0.0.1:1" }]',
  'gateway.yaml': `listen: 127.0.0.1:0
admin: 127.0.0.1:0
limits: { connections: 100000, connectionsPerAddress: 100000 }
postgres: { url: "${server.url}", timeout: 120s, spool: 500ms }`,
}

async function command(processes: Processes, ...words: string[]): Promise<void> {
  const child = new Child(process.execPath, [main, ...words, '--config', dirname(processes.dataDir)], env)
  if ((await child.exited).code !== 0) throw new Error(child.stderr)
}

try {
  for (const processes of [here, elsewhere]) processes.write(files)
  const keys = await fill(here.dataDir, { endpoints: ENDPOINTS, wanted: KEYS, network: 'eth' })
  await command(here, 'migrate', '--to', 'postgres')
  const { pid, listen } = await here.gateway(files, ['--import', LOOP_DELAY], env)
  const block = (): Promise<number> => longestBlock(here, pid)
  const serves = async (key: string): Promise<boolean> => {
    const response = await fetch(`http://${listen}/other/v1/rpc/${key}`, {
      method: 'POST',
      body: LOCAL,
      headers: { 'content-type': 'application/json' },
    })
    return response.status === 200
  }
  await command(elsewhere, 'account', 'list', '--json')
  await pause(3_000)
  await block()
  await pause(5_000)
  console.log(`${ENDPOINTS} endpoints; longest block of the event loop
| of a gateway that does nothing | ${(await block()).toFixed(1)} ms |`)
  const begin = performance.now()
  await command(elsewhere, 'endpoint', 'move', '--from', 'eth', '--to', 'other')
  await until('all are moved here', async () => (await serves(keys.at(-1)!)) && serves(keys[0]!), 300_000)
  console.log(
    `| while another machine moves all of them, ${((performance.now() - begin) / 1000).toFixed(1)} s | ${(await block()).toFixed(1)} ms |`,
  )
  const url = keys.map(key => `http://${listen}/other/v1/rpc/${key}`)
  await load({ url, body: LOCAL, posts: 1e9, seconds: 3 })
  await block()
  await load({ url, body: LOCAL, posts: 1e9, seconds: 10 })
  console.log(
    `| under full load on ${KEYS} of them, reported twice a second | ${(await block()).toFixed(1)} ms |`,
  )
} finally {
  await here.stop()
  await elsewhere.stop()
  for (const end of endings) await end()
}
