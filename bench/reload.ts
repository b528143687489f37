/** Reload at scale: 1 000 networks with 10 routes each. How long it takes, what it holds, how long calls are held up. */
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { cpuOf } from './parts/cpu.ts'
import { manyNetworks } from './parts/many-networks.ts'
import { Processes, configFor } from './parts/processes.ts'
import type { Started } from './parts/processes.ts'

const NETWORKS = Number(process.env['NETWORKS'] ?? 1_000)
const ROUTES = Number(process.env['ROUTES'] ?? 10)

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
  const reload = (weight: number, added: number) => async (): Promise<void> => {
    processes.write(manyNetworks(upstream.listen, { networks: NETWORKS + added, routes: ROUTES, weight }))
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
  await measured('from one network to all', reload(1, 0))
  await measured('a weight in each network', reload(2, 0))
  await measured('ten more networks', reload(2, 10))
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
