/** A way to Redis on which answers are lost. */
import { loopback, startStreamProxy, type StreamProxy } from './stream-proxy.ts'
import type { Teardown } from './teardown.ts'

/** What is on the way. */
export interface RedisProxy extends StreamProxy {
  /** With the address of the proxy in place of the server's. */
  readonly url: string
  /** The next answer to a script is lost with its connection: Redis has run it. `lost` is called then. */
  loseNext(lost?: () => void): void
}

/** Scripts are the only words of ours that change anything. */
const SCRIPT = /evalsha|eval/i

/** Starts a proxy before a server on loopback. */
export async function startRedisProxy(t: Teardown, port: number): Promise<RedisProxy> {
  let next: (() => void) | null = null
  const proxy = await startStreamProxy(t, loopback(), loopback(port), (client, server) => {
    let losing: (() => void) | null = null
    client.on('data', data => {
      if (next !== null && SCRIPT.test(data.toString('latin1'))) {
        losing = next
        next = null
      }
      server.write(data)
    })
    server.on('data', data => {
      if (losing === null) client.write(data)
      else {
        losing()
        client.destroy()
      }
    })
  })
  return {
    url: `redis://127.0.0.1:${proxy.port}`,
    loseNext: (lost = () => undefined) => {
      next = lost
    },
    set isCut(cut: boolean) {
      proxy.isCut = cut
    },
    set isStalled(stalled: boolean) {
      proxy.isStalled = stalled
    },
  }
}
