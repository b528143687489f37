/**
 * How long a forwarded call takes at half of full load, against the relay: both are sent half of the calls a second that the gateway bears, in turns
 * on a core of their own. wrk counts from the request to the reply. Goal: p99 at most 1.3 times as long.
 */
import { FORWARDED } from './parts/calls.ts'
import { median } from './parts/cpu.ts'
import { CONNECTIONS, ROUNDS, STARTS } from './parts/effort.ts'
import { pinLoad, pinMeasured } from './parts/pin.ts'
import { configFor, Processes } from './parts/processes.ts'
import { wrk, wrkIsHere } from './parts/wrk.ts'
import type { Sent } from './parts/wrk.ts'

/** Seconds of one round, and of the one that finds what full load is. */
const SECONDS = Number(process.env['SECONDS'] ?? 5)

if (!wrkIsHere) {
  console.error('wrk is not installed, and no other load here is even enough to be timed')
  process.exit(1)
}

function send(url: string, perSecond: number): Promise<Sent> {
  const { origin, pathname } = new URL(url)
  const order = { origin, paths: [pathname], bodies: FORWARDED, connections: CONNECTIONS }
  const posts = Number.isFinite(perSecond) ? Math.ceil(perSecond * SECONDS) : Infinity
  return wrk({ ...order, posts, seconds: Math.ceil(SECONDS * 2), refused: false, numbered: 0, perSecond })
}

pinLoad()
const rounds: { readonly gateway: Sent; readonly relay: Sent }[] = []
for (let start = 0; start < STARTS; start += 1) {
  const processes = new Processes()
  try {
    const upstream = await processes.part('upstream')
    const relay = await processes.part('relay', { UPSTREAM: `http://${upstream.listen}` })
    const gateway = await processes.gateway(configFor(upstream.listen))
    for (const { pid } of [relay, gateway]) pinMeasured(pid)
    const url = `http://${gateway.listen}/eth/v1/rpc/${await processes.key('bench')}`
    const [begin, { answers }] = [performance.now(), await send(url, Infinity)]
    const half = Math.round(answers / ((performance.now() - begin) / 1000) / 2)
    console.log(`${half} calls a second`)
    for (let round = -1; round < ROUNDS; round += 1) {
      const figures = { gateway: await send(url, half), relay: await send(`http://${relay.listen}/`, half) }
      if (round >= 0) rounds.push(figures)
    }
  } finally {
    await processes.stop()
  }
}

console.log('| at half of full load | gateway | bare relay | ratio |\n|---|---|---|---|')
for (const name of ['p50', 'p99'] as const) {
  const ms = (side: 'gateway' | 'relay'): string =>
    `${median(rounds.map(each => each[side][name])).toFixed(2)} ms`
  const ratio = median(rounds.map(({ gateway, relay }) => gateway[name] / relay[name]))
  console.log(`| ${name} | ${ms('gateway')} | ${ms('relay')} | ${ratio.toFixed(2)} |`)
}
