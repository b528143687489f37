/**
 * What sharing of equal calls in flight costs and brings: CPU of a forwarded call that is equal to no other, with `share` and without; and of 64 clients
 * that all ask for the same CPU and calls a second. With their calls a second the time counts too in which the gateway has nothing to do, as all
 * of them wait for one answer.
 */
import { FORWARDED } from './parts/calls.ts'
import { median } from './parts/cpu.ts'
import { CALLS, ROUNDS, STARTS } from './parts/effort.ts'
import { load } from './parts/load.ts'
import { overStarts } from './parts/over-starts.ts'
import { pinMeasured } from './parts/pin.ts'
import { configFor, Processes } from './parts/processes.ts'

/** Clients that ask for the same, one call at a time each. */
const CLIENTS = 64

/** A gateway with one account. */
interface Gateway {
  readonly pid: number
  readonly url: string
}

async function start(processes: Processes, upstream: string, share: boolean): Promise<Gateway> {
  const files = configFor(upstream)
  const networks = files['networks.yaml']!.replace('public: true', `public: true, share: ${share}`)
  const { pid, listen } = await processes.gateway({ ...files, 'networks.yaml': networks })
  return { pid, url: `http://${listen}/eth/v1/rpc/${await processes.key('bench')}` }
}

/** Calls a second of clients that all ask for the same. */
async function rate({ url }: Gateway): Promise<number> {
  const begin = performance.now()
  const sent = await load({ url, body: FORWARDED[0]!, connections: CLIENTS })
  return (sent * 1000) / (performance.now() - begin)
}

const rates: { readonly shared: number; readonly alone: number }[] = []

await overStarts(async (table, processes) => {
  const second = new Processes()
  try {
    const { listen } = await processes.part('upstream')
    const [shared, alone] = [await start(processes, listen, true), await start(second, listen, false)]
    const [ours, theirs] = [shared, alone].map(({ pid, url }, i) => ({
      name: i === 0 ? 'share' : 'share: false',
      pid,
      work: () => load({ url, body: FORWARDED }),
    }))
    await table.compare('forwarded call that no other is equal to', ours!, theirs!)
    const [together, each] = [shared, alone].map(({ pid, url }, i) => ({
      name: i === 0 ? 'share' : 'share: false',
      pid,
      work: () => load({ url, body: FORWARDED[0]!, connections: CLIENTS }),
    }))
    await table.compare(`call that ${CLIENTS} clients ask for at once`, together!, each!)
    for (const { pid } of [shared, alone]) pinMeasured(pid)
    for (let round = -1; round < ROUNDS; round += 1) {
      const figures = { shared: await rate(shared), alone: await rate(alone) }
      if (round >= 0) rates.push(figures)
    }
  } finally {
    await second.stop()
  }
})

const [shared, alone] = [median(rates.map(each => each.shared)), median(rates.map(each => each.alone))]
const ratio = median(rates.map(each => each.shared / each.alone))
console.log(`\n${CLIENTS} clients that ask for the same (${STARTS} × ${ROUNDS} rounds of ${CALLS} calls)`)
console.log('| calls a second | share | share: false | ratio |\n|---|---|---|---|')
console.log(`| equal calls | ${shared.toFixed(0)} | ${alone.toFixed(0)} | ${ratio.toFixed(2)} |`)
