/**
 * Starts of the shipped YAML: time and CPU until `serve` is ready, what it holds at rest, and what the small commands cost; then `serve` with
 * `ENDPOINTS` endpoints. All upstreams are one node on the loopback.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Child } from '../test/support/child.ts'
import { cpuOf, cpuOfEnded, median } from './parts/cpu.ts'
import { fill } from './parts/fill.ts'
import { Processes } from './parts/processes.ts'

const STARTS = Number(process.env['STARTS'] ?? 9)
/** Seconds at rest before memory is looked at. */
const IDLE = Number(process.env['IDLE'] ?? 30)
const ENDPOINTS = Number(process.env['ENDPOINTS'] ?? 1_000_000)

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const config = fileURLToPath(new URL('..', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'tollgate-start-'))
const run = promisify(execFile)

/** Points every upstream of the shipped YAML at `node`. */
function environment(node: string): Record<string, string> & { TOLLGATE_DATA: string } {
  const routes = readFileSync(join(config, 'routes.yaml'), 'utf8')
  const urls = [...routes.matchAll(/\$\{([A-Z_]+_(URL|WS))/g)].map(([, name, kind]) => [
    name!,
    `${kind === 'WS' ? 'ws' : 'http'}://${node}`,
  ])
  return {
    ...(Object.fromEntries(urls) as Record<string, string>),
    PATH: process.env['PATH'] ?? '',
    TOLLGATE_DATA: join(dir, 'data'),
    TOLLGATE_LISTEN: '127.0.0.1:0',
    TOLLGATE_ADMIN: '127.0.0.1:0',
  }
}

interface Start {
  readonly ms: number
  readonly cpu: number
  readonly resident: number
}

/** One start of `serve`; `idle` seconds later its memory in MiB. */
async function serve(env: Record<string, string>, idle: number): Promise<Start> {
  const begin = performance.now()
  const child = new Child(process.execPath, [main, 'serve', '--config', config], env)
  await child.output('ready', ({ stdout }) => (stdout.includes('"msg":"ready"') ? true : undefined))
  const [ms, cpu] = [performance.now() - begin, cpuOf(child.pid) / 1000]
  await pause(idle * 1000)
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  const resident = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
  await child.stop()
  return { ms, cpu, resident }
}

/** Median wall time and mean CPU of a command, in milliseconds. */
async function command(
  args: readonly string[],
  env: Record<string, string>,
): Promise<Omit<Start, 'resident'>> {
  const times: number[] = []
  await run(process.execPath, [...args], { env })
  const cpu = cpuOfEnded()
  for (let i = 0; i < STARTS; i += 1) {
    const begin = performance.now()
    await run(process.execPath, [...args], { env })
    times.push(performance.now() - begin)
  }
  return { ms: median(times), cpu: (cpuOfEnded() - cpu) / 1000 / STARTS }
}

function row(title: string, { ms, cpu }: Omit<Start, 'resident'>, resident = '–'): void {
  console.log(`| ${title} | ${ms.toFixed(0)} ms | ${cpu.toFixed(0)} ms | ${resident} |`)
}

const processes = new Processes()
try {
  const env = environment((await processes.part('upstream')).listen)
  console.log(
    `medians of ${STARTS} starts\n| start of | time | CPU | memory after ${IDLE} s |\n|---|---|---|---|`,
  )
  row('node -e 0', await command(['-e', '0'], env))
  row('tollgate --help', await command([main, '--help'], env))
  row('tollgate check', await command([main, 'check', '--config', config], env))
  const create = ['account', 'create', 'bench', '--plan', 'free', '--init', '--config', config]
  row('tollgate account create', await command([main, ...create], env))
  row('tollgate usage', await command([main, 'usage', '--config', config], env))
  const measure = async (title: string): Promise<void> => {
    const starts: Start[] = []
    for (let i = 0; i <= STARTS; i += 1) starts.push(await serve(env, 0))
    const measured = starts.slice(1)
    const { resident } = await serve(env, IDLE)
    const ready = { ms: median(measured.map(({ ms }) => ms)), cpu: median(measured.map(({ cpu }) => cpu)) }
    row(title, ready, `${resident.toFixed(0)} MiB`)
  }
  await measure('tollgate serve, until ready')
  await fill(env.TOLLGATE_DATA, { endpoints: ENDPOINTS, wanted: 1, network: 'ethereum', plan: 'free' })
  await measure(`the same with ${ENDPOINTS} endpoints`)
} finally {
  await processes.stop()
  rmSync(dir, { recursive: true, force: true })
}
