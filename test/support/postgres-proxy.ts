/** A way to PostgreSQL that loses what a test wants it to lose. */
import pg from 'pg'
import { loopback, startStreamProxy, type StreamProxy } from './stream-proxy.ts'
import type { Teardown } from './teardown.ts'

/**
 * What happens to a COMMIT: it is lost with its connection, or its backend is ended before it gets it; or it is carried out, and the reply is lost with
 * its connection, or with all that would follow, or as the backend is ended then.
 */
export type Loss = 'commit' | 'backend before' | 'reply' | 'silence' | 'backend after'

/** What is on the way. */
export interface PostgresProxy extends StreamProxy {
  /** With the address of the proxy in place of the server's. */
  readonly url: string
  /** The next COMMIT; then nothing is lost again. `lost` is called when it was, before the client knows. */
  loseNext(loss: Loss, lost?: () => void): void
  /** Whether notifications get through. */
  notifies: boolean
}

const COMMIT = Buffer.from('COMMIT\0')
const NOTIFICATION = 'A'.charCodeAt(0)
/** Begins with the id of the process that serves the connection. */
const KEY_DATA = 'K'.charCodeAt(0)

/** Starts a proxy before a server. */
export async function startPostgresProxy(t: Teardown, serverUrl: string): Promise<PostgresProxy> {
  const url = new URL(serverUrl)
  let next: { readonly loss: Loss; readonly lost: () => void } | null = null
  let notifies = true
  const proxy = await startStreamProxy(t, loopback(), loopback(Number(url.port)), (client, server) => {
    let backend = 0
    let isSilent = false
    const commit = (data: Buffer, { loss, lost }: NonNullable<typeof next>): void => {
      if (loss === 'commit') {
        lost()
        client.destroy()
        return
      }
      if (loss === 'backend before') {
        lost()
        void terminate(serverUrl, backend)
        return
      }
      isSilent = true
      // All of it comes at once.
      server.once('data', () => {
        lost()
        if (loss === 'reply') client.destroy()
        if (loss !== 'backend after') return
        isSilent = false
        void terminate(serverUrl, backend)
      })
      server.write(data)
    }
    client.on('data', data => {
      if (next === null || !data.includes(COMMIT)) server.write(data)
      else {
        const loss = next
        next = null
        commit(data, loss)
      }
    })
    let rest: Buffer = Buffer.alloc(0)
    server.on('data', data => {
      if (isSilent) return
      rest = Buffer.concat([rest, data])
      // A byte of type, and a length that counts itself.
      while (rest.length >= 5 && rest.length >= rest.readInt32BE(1) + 1) {
        const message = rest.subarray(0, rest.readInt32BE(1) + 1)
        rest = rest.subarray(message.length)
        if (message[0] === KEY_DATA) backend = message.readInt32BE(5)
        if (message[0] !== NOTIFICATION || notifies) client.write(message)
      }
    })
  })
  url.port = String(proxy.port)
  return {
    url: url.href,
    loseNext: (loss, lost = () => undefined) => {
      next = { loss, lost }
    },
    get notifies() {
      return notifies
    },
    set notifies(notified: boolean) {
      notifies = notified
    },
    set isCut(cut: boolean) {
      proxy.isCut = cut
    },
    set isStalled(stalled: boolean) {
      proxy.isStalled = stalled
    },
  }
}

/** Ends the connection that a process of the server serves, as an operator would. */
async function terminate(serverUrl: string, pid: number): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('SELECT pg_terminate_backend($1)', [pid])
  } catch {
    // The server has ended, and the connection with it.
  } finally {
    await client.end().catch(() => undefined)
  }
}
