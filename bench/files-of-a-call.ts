/**
 * Which files of src/ one call passes, by V8's precise coverage: an `eth_call` whose key is cached, and one that is refused. What runs beside
 * a call (timers, the prober) is not told apart, so the shortest of several looks is taken.
 *
 *     npm run build && node --import=tsx bench/files-of-a-call.ts
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { stringify } from 'yaml'
import { startApp } from '../src/runtime/alone.ts'
import { runJson } from '../test/support/cli.ts'

const LOOKS = 20
const root = fileURLToPath(new URL('../src', import.meta.url))

const node = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (piece: string) => (body += piece))
  request.on('end', () => {
    const { id, method } = JSON.parse(body) as { id: number; method: string }
    const result = { eth_blockNumber: '0x10', eth_syncing: false }[method] ?? '0x1'
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
})
node.listen(0, '127.0.0.1')
await once(node, 'listening')
const { port } = node.address() as AddressInfo

const dir = mkdtempSync(join(tmpdir(), 'tollgate-files-'))
const files = {
  'networks.yaml': {
    baseUrl: 'http://127.0.0.1:8080/{slug}',
    networks: { eth: { name: 'E', family: 'evm', chainId: 1 } },
  },
  'routes.yaml': { routes: [{ id: 'a', network: 'eth', http: `http://127.0.0.1:${port}` }] },
  'methods.yaml': { extends: 'catalogue' },
  'plans.yaml': { plans: { paid: { tiers: ['any', 'paid'] } } },
  'gateway.yaml': { listen: '127.0.0.1:0', admin: '127.0.0.1:0', acknowledge: ['no-route'] },
}
for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), stringify(content))
const { endpoint } = (await runJson(dir, [
  'account',
  'create',
  'files',
  '--plan',
  'paid',
  '--chain',
  'eth',
  '--init',
])) as { endpoint: { apiKey: string } }
const app = await startApp({
  dir,
  env: process.env,
  makeLog: () => pino({ level: 'silent' }),
  output: { write: () => undefined },
})

async function post(method: string): Promise<string> {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method,
    params: [{ to: `0x${'1'.repeat(40)}` }, 'latest'],
  })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`http://${app.listen}/eth/v1/rpc/${endpoint.apiKey}`, {
    method: 'POST',
    headers,
    body,
  })
  return response.text()
}

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

/** The files that ran, of the shortest look. */
async function filesOf(method: string): Promise<string[]> {
  let least: string[] | null = null
  for (let look = 0; look < LOOKS; look += 1) {
    await post(method)
    await sleep(50)
    await session.post('Profiler.takePreciseCoverage')
    const answer = await post(method)
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const ran = result
      .filter(
        ({ url, functions }) => url.includes('/src/') && functions.some(({ ranges }) => ranges[0]!.count > 0),
      )
      .map(({ url }) => relative(root, fileURLToPath(url)))
      .filter(file => !file.startsWith('..') && !file.includes('node_modules'))
    if (look === 0) console.log(`${method}: ${answer}`)
    if (least === null || ran.length < least.length) least = ran
  }
  return least!.sort()
}

for (const method of ['eth_call', 'eth_nothing']) {
  const passed = await filesOf(method)
  console.log(`${method} passes ${passed.length} files\n  ${passed.join('\n  ')}`)
}
await app.stop()
node.close()
node.closeAllConnections()
rmSync(dir, { recursive: true })
process.exit(0)
