/**
 * What the cache costs: CPU of a kept answer against one that the gateway gives itself, of a call whose answer is not there and is kept
 * against one that is only forwarded, and of a row with `cache` where none is configured. Then a full cache under distinct calls at a given pace: how
 * long its event loop is held, and how much memory the process takes. `FILL` calls fill the cache (150 000), and `KEYS` (a million) come at `PACE` a second
 * (10 000); `STARTS=0` or `KEYS=0` leaves one part out.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { peakResident, resident } from '../test/support/memory.ts'
import { LOCAL } from './parts/calls.ts'
import type { Side } from './parts/compare.ts'
import { cpuOf } from './parts/cpu.ts'
import { CALLS } from './parts/effort.ts'
import { load } from './parts/load.ts'
import { overStarts } from './parts/over-starts.ts'
import { pinLoad, pinMeasured } from './parts/pin.ts'
import { configFor, Processes } from './parts/processes.ts'

const MiB = 2 ** 20
const MEMORY = 64
const KEYS = Number(process.env['KEYS'] ?? 1_000_000)
const PACE = Number(process.env['PACE'] ?? 10_000)
/** Small answers, each counted as about 480 bytes: they fill the cache. */
const FILL = Number(process.env['FILL'] ?? 150_000)
/** For so many a second, with some to spare where one is late. */
const CONNECTIONS = 128

const monitor = new URL('parts/loop-delay.mjs', import.meta.url).href

/** A call about a final block; two rows differ in nothing but whether answers are kept. */
function callOf(method: 'eth_call' | 'eth_pass'): string {
  return `{"jsonrpc":"2.0","id":1,"method":"${method}","params":[{"to":"0x00000000000000000000000000000000{n}","data":"0x70a08231"},"0x1"]}`
}

interface Gateway {
  readonly pid: number
  readonly url: string
  readonly admin: string
}

/** Calls that were answered from the cache so far. */
async function hitsOf({ admin }: Gateway): Promise<number> {
  const text = await (await fetch(`http://${admin}/metrics`)).text()
  return Number(/^tollgate_cache_calls_total\{.*result="hit"\} (\d+)$/m.exec(text)?.[1] ?? 0)
}

async function start(
  processes: Processes,
  upstream: string,
  memory: number | null,
  node: readonly string[] = [],
): Promise<Gateway> {
  const files = configFor(upstream)
  const row = (more: string): string =>
    `{ retry: safe, params: [1, 4], block: { at: 1, kind: ref, omitted: latest }${more} }`
  const { pid, listen, admin } = await processes.gateway(
    {
      ...files,
      'networks.yaml': files['networks.yaml']!.replace('public: true', 'public: true, finality: 1'),
      'methods.yaml': `families:\n  evm:\n    eth_chainId: { answer: chainId }\n    eth_pass: ${row('')}\n    eth_call: ${row(', cache: [final]')}`,
      'gateway.yaml': `${files['gateway.yaml']!}\n${memory === null ? '' : `cache: { memory: ${memory}MiB }`}`,
    },
    node,
  )
  const url = `http://${listen}/eth/v1/rpc/${await processes.key('bench')}`
  return { pid, url, admin: admin! }
}

let used = 0

/** Posts that no other is equal to. */
function distinct(
  url: string,
  method: 'eth_call' | 'eth_pass',
  posts: number,
  perSecond?: number,
): Promise<number> {
  const numbered = used
  // Each connection may have one more under way than is waited for.
  used += posts + CONNECTIONS
  const pace = perSecond === undefined ? {} : { perSecond, connections: CONNECTIONS }
  return load({ url, body: callOf(method), posts, numbered, ...pace })
}

await overStarts(async (table, processes) => {
  const second = new Processes()
  try {
    const { listen } = await processes.part('upstream')
    const [kept, none] = [await start(processes, listen, MEMORY), await start(second, listen, null)]
    const side = ({ pid }: Gateway, name: string, work: () => Promise<number>): Side => ({ name, pid, work })
    const body = Array.from({ length: 1_000 }, (_, n) =>
      callOf('eth_call').replace('{n}', `ffff${n + 1_000}`),
    )
    // The answers that are asked for again are the last ones to make room.
    await distinct(kept.url, 'eth_call', FILL)
    await table.compare(
      'kept answer',
      side(kept, 'gateway', () => load({ url: kept.url, body })),
      side(kept, 'local answer', () => load({ url: kept.url, body: LOCAL })),
    )
    // The first time each is asked of the node, and what was asked before a block was known to be final is not kept.
    if ((await hitsOf(kept)) < CALLS) throw new Error('the answers were not kept')
    for (const [title, gateway] of [
      ['answer that is not there, and kept', kept],
      ['row with cache, none configured', none],
    ] as const)
      await table.compare(
        title,
        side(gateway, 'gateway', () => distinct(gateway.url, 'eth_call', CALLS)),
        side(gateway, 'forwarded', () => distinct(gateway.url, 'eth_pass', CALLS)),
      )
  } finally {
    await second.stop()
  }
})

/** How the process fares under `KEYS` distinct calls, once what it keeps is full. */
async function held(memory: number | null): Promise<string> {
  const processes = new Processes()
  try {
    const { listen } = await processes.part('upstream')
    const { pid, url } = await start(processes, listen, memory, ['--import', monitor])
    pinMeasured(pid)
    const lines = (): string[] =>
      processes
        .printed(pid)
        .split('\n')
        .filter(line => line.includes('"msg":"loop"') && line.endsWith('}'))
    const delay = async (): Promise<{ readonly ms: number; readonly p999: number }> => {
      const before = lines().length
      process.kill(pid, 'SIGUSR2')
      while (lines().length === before) await pause(5)
      return JSON.parse(lines().at(-1)!) as { ms: number; p999: number }
    }
    await distinct(url, 'eth_call', FILL)
    await delay()
    const [begin, cpu] = [performance.now(), cpuOf(pid)]
    const calls = await distinct(url, 'eth_call', KEYS, PACE)
    const seconds = (performance.now() - begin) / 1000
    const busy = (cpuOf(pid) - cpu) / 1e6 / seconds
    const { ms, p999 } = await delay()
    const [now, most] = [(await resident(pid)) / MiB, (await peakResident(pid)) / MiB]
    return [
      memory === null ? 'none' : `${memory} MiB`,
      (calls / seconds).toFixed(0),
      `${(busy * 100).toFixed(0)} %`,
      `${p999.toFixed(1)} ms`,
      `${ms.toFixed(1)} ms`,
      `${now.toFixed(0)} MiB`,
      `${most.toFixed(0)} MiB`,
    ].join(' | ')
  } finally {
    await processes.stop()
  }
}

if (KEYS > 0) {
  pinLoad()
  console.log(`\n${KEYS} distinct calls at ${PACE} a second`)
  console.log(
    '| cache | calls a second | CPU | loop delay p99.9 | longest | RSS | most |\n|---|---|---|---|---|---|---|',
  )
  for (const memory of [MEMORY, null]) console.log(`| ${await held(memory)} |`)
}
