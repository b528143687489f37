/** Reload at scale: 1 000 networks with 10 routes each. How long it takes, what it holds, how long calls are held up. */
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { cpuOf } from './parts/cpu.ts'
import { Processes, configFor } from './parts/processes.ts'
import type { Started } from './parts/processes.ts'

const NETWORKS = Number(process.env['NETWORKS'] ?? 1_000)
const ROUTES = Number(process.env['ROUTES'] ?? 10)

/** The big configuration; `edit` is what an operator changes in it. */
function files(upstream: string, { weight = 1, added = 0 } = {}): Record<string, string> {
  const slugs = Array.from({ length: NETWORKS + added }, (_, n) => `net${n}`)
  const networks = slugs.map((slug, n) => `  ${slug}: { name: Net ${n}, family: evm, chainId: 1 }`)
  const routes = slugs.flatMap(slug =>
    Array.from(
      { length: ROUTES },
      (_, r) =>
        `  - { id: ${slug}-r${r}, network: ${slug}, http: "http://${upstream}", capabilities: [archive, trace, debug], weight: ${r === 0 ? weight : 1} }`,
    ),
  )
  const shipped = readFileSync(
    fileURLToPath(new URL('../examples/devnet/methods.yaml', import.meta.url)),
    'utf8',
  )
  return {
    ...configFor(upstream),
    'networks.yaml': ['baseUrl: http://127.0.0.1:1/{slug}', 'networks:', ...networks].join('\n'),
    'routes.yaml': ['routes:', ...routes].join('\n'),
    'methods.yaml': shipped,
    'plans.yaml':
      'plans: { bench: { tiers: [any, paid], rate: { perSecond: 1000000, burst: 1000000 }, maxBatch: 1000 } }',
  }
}

/** Longest block of the gateway's loop since the last question, in milliseconds. */
async function longestBlock(printed: () => string, { pid }: Started): Promise<number> {
  const seen = printed().length
  process.kill(pid, 'SIGUSR2')
  for (;;) {
    const line = printed()
      .slice(seen)
      .split('\n')
      .find(text => text.includes('"loop"') && text.endsWith('}'))
    if (line !== undefined) return (JSON.parse(line) as { ms: number }).ms
    await pause(5)
  }
}

function megabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}

const processes = new Processes()
try {
  const upstream = await processes.part('upstream')
  const small = await processes.gateway(configFor(upstream.listen), [
    `--import=${new URL('parts/loop-delay.mjs', import.meta.url).href}`,
  ])
  const block = (): Promise<number> => longestBlock(() => processes.printed(small.pid), small)
  const measured = async (title: string, act: () => Promise<unknown>): Promise<void> => {
    await pause(6_000)
    await block()
    const [begin, cpu] = [performance.now(), cpuOf(small.pid)]
    await act()
    const took = performance.now() - begin
    const ms = await block()
    console.log(
      `| ${title} | ${(took / 1000).toFixed(2)} s | ${((cpuOf(small.pid) - cpu) / 1e6).toFixed(2)} s | ${ms.toFixed(0)} ms | ${megabytes(small.pid).toFixed(0)} MiB |`,
    )
  }
  const reload = (change: Parameters<typeof files>[1]) => async (): Promise<void> => {
    processes.write(files(upstream.listen, change))
    const reply = await fetch(`http://${small.admin!}/reload`, { method: 'POST' })
    if (reply.status !== 200)
      throw new Error((await reply.text()).slice(0, 500) + processes.printed(small.pid).slice(-3000))
    await reply.arrayBuffer()
  }
  const get = (path: string) => async (): Promise<void> => {
    await (await fetch(`http://${small.admin!}${path}`)).arrayBuffer()
  }
  console.log(`${NETWORKS} networks × ${ROUTES} routes, after a start with one of each`)
  console.log('| step | took | CPU | longest loop block | memory after |\n|---|---|---|---|---|')
  await measured('from one network to all', reload({}))
  await measured('a weight in each network', reload({ weight: 2 }))
  await measured('ten more networks', reload({ weight: 2, added: 10 }))
  await measured('at rest for 10 s (probes)', () => pause(10_000))
  await measured('a scrape of the metrics', get('/metrics'))
  await measured('/status', get('/status'))
  await measured('back to few (the others close)', async () => {
    processes.write(configFor(upstream.listen))
    await (await fetch(`http://${small.admin!}/reload`, { method: 'POST' })).arrayBuffer()
  })
} finally {
  await processes.stop()
}
