import type { Target } from '../harness/stage.ts'
import { call, exchange } from './raw.ts'

/** Hosts that are none, as a request smuggler or a cache poisoner writes them. */
const hosts = ['a,b', 'a, b', 'user@a', 'a/b', 'a b', 'a:99999', 'a:b', '']

/** The status that each of them gets. */
export async function strangeHosts({ port, paths }: Target): Promise<object> {
  const body = call('eth_chainId', [])
  const statuses: Record<string, string> = {}
  for (const host of hosts) {
    const head = `POST ${paths.free} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n`
    const reply = await exchange(
      port,
      `${head}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    const reason = /"reason":"(\w+)"/.exec(reply)?.[1] ?? 'served'
    statuses[host] = `${/^HTTP\/1\.1 (\d+)/.exec(reply)?.[1] ?? 'none'} ${reason}`
  }
  return statuses
}
