import { Pool } from 'undici'
import { CALLS, CONNECTIONS } from './effort.ts'

/** What a load is made of. */
export interface Load {
  /** Where each POST goes: one URL, or the next one of the same host. */
  readonly url: string | (() => string)
  readonly body: string
  readonly posts?: number
  /** As many posts are under way at a time. */
  readonly connections?: number
  /** When to stop before that, by `performance.now()`. */
  readonly until?: number
  /** Every reply is to hold an error; otherwise none may. */
  readonly refused?: boolean
}

/** Sends POSTs over a few connections; resolves with how many, rejects on a reply that is not as expected. */
export async function load(load: Load): Promise<number> {
  const { url, body, posts = CALLS, connections = CONNECTIONS, until = Infinity, refused = false } = load
  const next = typeof url === 'string' ? () => url : url
  const first = new URL(next())
  const pool = new Pool(first.origin, { connections, pipelining: 1 })
  const headers = { 'content-type': 'application/json' }
  let sent = 0
  const worker = async (): Promise<void> => {
    while (sent < posts && performance.now() < until) {
      sent += 1
      const path = next().slice(first.origin.length)
      const reply = await pool.request({ path, method: 'POST', headers, body })
      const text = await reply.body.text()
      if (reply.statusCode !== 200 || text.includes('"error"') !== refused)
        throw new Error(`HTTP ${reply.statusCode} from ${path}: ${text.slice(0, 300)}`)
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  await pool.close()
  return sent
}
