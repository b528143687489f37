/** `npm run bench`: CPU per call of the real process, as a ratio against a reference measured in the same minutes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Child } from '../test/support/child.ts'
import { cpuOf, median } from './parts/cpu.ts'
import { load } from './parts/load.ts'

const ROUNDS = 7
const CALLS = 10_000
const CONNECTIONS = 32

/** A process under load. */
interface Subject {
  readonly name: string
  readonly pid: number
  readonly url: string
}

const part = (name: string): string => fileURLToPath(new URL(`parts/${name}.ts`, import.meta.url))
const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
const children: Child[] = []

async function start(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ pid: number; listen: string }> {
  const child = new Child(process.execPath, args, { PATH: process.env['PATH'] ?? '', ...env })
  children.push(child)
  const ready = (): string | undefined =>
    child.stdout.split('\n').find(line => line.includes('"ready"') && line.endsWith('}'))
  const line = await child.output('ready', ready)
  return { pid: child.pid, listen: (JSON.parse(line) as { listen: string }).listen }
}

function writeConfig(upstream: string): void {
  const files = {
    'networks.yaml':
      'baseUrl: http://127.0.0.1:1/{slug}\nnetworks: { eth: { name: Bench, family: evm, chainId: 1 } }',
    'routes.yaml': `routes: [{ id: a, network: eth, http: "http://${upstream}" }]`,
    'methods.yaml':
      'families: { evm: { eth_chainId: { answer: chainId }, eth_call: { retry: safe, params: [1, 4], block: { at: 1, kind: ref, omitted: latest }, reads: state } } }',
    'plans.yaml':
      'plans: { bench: { tiers: [any], rate: { perSecond: 1000000, burst: 1000000 }, maxBatch: 1000, ws: { connections: 10, subscriptions: 10 } } }',
    'gateway.yaml': 'listen: 127.0.0.1:0\nadmin: 127.0.0.1:0',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text)
}

async function account(): Promise<string> {
  const child = new Child(
    process.execPath,
    [main, 'account', 'create', 'bench', '--plan', 'bench', '--config', dir, '--json'],
    { PATH: process.env['PATH'] ?? '' },
  )
  await child.exited
  return (JSON.parse(child.stdout) as { endpoint: { apiKey: string } }).endpoint.apiKey
}

/** CPU microseconds per call, measured in turns so that a noisy minute hits both. */
async function compare(
  title: string,
  a: Subject & { body: string },
  b: Subject & { body: string },
): Promise<void> {
  const figures = new Map<string, number[]>([
    [a.name, []],
    [b.name, []],
  ])
  for (let round = 0; round < ROUNDS + 1; round += 1)
    for (const { name, pid, url, body } of [a, b]) {
      const before = cpuOf(pid)
      await load(url, body, { calls: CALLS, connections: CONNECTIONS })
      if (round > 0) figures.get(name)?.push((cpuOf(pid) - before) / CALLS)
    }
  const [ours, theirs] = [median(figures.get(a.name)!), median(figures.get(b.name)!)]
  const ratios = figures.get(a.name)!.map((value, i) => value / figures.get(b.name)![i]!)
  console.log(
    `| ${title} | ${ours.toFixed(1)} µs | ${b.name} ${theirs.toFixed(1)} µs | ${median(ratios).toFixed(2)} |`,
  )
}

const call =
  '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"0x0000000000000000000000000000000000000001","data":"0x70a08231"},"latest"]}'
const local = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'

try {
  const upstream = await start(['--import=tsx', part('upstream')])
  const relay = await start(['--import=tsx', part('relay')], { UPSTREAM: `http://${upstream.listen}` })
  const hello = await start(['--import=tsx', part('hello')])
  writeConfig(upstream.listen)
  const key = await account()
  const gateway = await start([main, 'serve', '--config', dir])
  const url = `http://${gateway.listen}/eth/v1/rpc/${key}`
  const refused = '{"jsonrpc":"2.0","id":1,"method":"debug_traceCall","params":[]}'
  console.log('| CPU per | gateway | reference | ratio |\n|---|---|---|---|')
  const us = { name: 'gateway', pid: gateway.pid, url }
  const bare = { name: 'bare server', pid: hello.pid, url: `http://${hello.listen}/` }
  await compare(
    'forwarded call',
    { ...us, body: call },
    { name: 'bare relay', pid: relay.pid, url: `http://${relay.listen}/`, body: call },
  )
  await compare('locally answered call', { ...us, body: local }, { ...bare, body: local })
  await compare('refused call', { ...us, body: refused }, { ...bare, body: refused })
} finally {
  for (const child of children) await child.stop('SIGTERM')
  rmSync(dir, { recursive: true, force: true })
}
