/** `npm run bench`: CPU per call of the real process, as a ratio against a reference measured in the same minutes. */
import { cpuOf, median } from './parts/cpu.ts'
import { load } from './parts/load.ts'
import { Processes, configFor } from './parts/processes.ts'

const ROUNDS = 7
const CALLS = 10_000
const CONNECTIONS = 32

/** A process under load. */
interface Subject {
  readonly name: string
  readonly pid: number
  readonly url: string
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

const processes = new Processes()
try {
  const upstream = await processes.part('upstream')
  const relay = await processes.part('relay', { UPSTREAM: `http://${upstream.listen}` })
  const hello = await processes.part('hello')
  const gateway = await processes.gateway(configFor(upstream.listen))
  const url = `http://${gateway.listen}/eth/v1/rpc/${await processes.key('bench')}`
  const refused = '{"jsonrpc":"2.0","id":1,"method":"debug_traceCall","params":[]}'
  console.log('| CPU per | gateway | reference | ratio |\n|---|---|---|---|')
  const us = { name: 'gateway', pid: gateway.pid, url }
  const bare = { name: 'bare server', pid: hello.pid, url: `http://${hello.listen}/` }
  const forwarding = { name: 'bare relay', pid: relay.pid, url: `http://${relay.listen}/` }
  await compare('forwarded call', { ...us, body: call }, { ...forwarding, body: call })
  await compare('locally answered call', { ...us, body: local }, { ...bare, body: local })
  await compare('refused call', { ...us, body: refused }, { ...bare, body: refused })
} finally {
  await processes.stop()
}
