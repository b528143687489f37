import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { CALLS, CONNECTIONS } from './effort.ts'
import { wrk, wrkIsHere } from './wrk.ts'
import type { Order } from './wrk.ts'

/** As wrk's `%08x` has it. */
const hex = (n: number): string => n.toString(16).padStart(8, '0')

/** What a load is made of. */
export interface Load {
  /** Where posts go: one URL, or those of one host in turn. */
  readonly url: string | readonly string[]
  /** What is posted: one body, or several in turn. */
  readonly body: string | readonly string[]
  readonly posts?: number
  /** As many posts are under way at a time. */
  readonly connections?: number
  /** When to stop at the latest. */
  readonly seconds?: number
  /** Every reply is to hold an error; otherwise none may. */
  readonly refused?: boolean
  /** A number for the first post: each has the next one, of eight hex digits, in the place of `{n}` in its body. */
  readonly numbered?: number
  /** Most posts a second; as fast as they are answered without it. */
  readonly perSecond?: number
}

/** Most seconds of a load that only a number of posts ends. */
const LONGEST = 600

/** Sends POSTs over a few connections; resolves with how many, rejects on a reply that is not as expected. */
export async function load({
  url,
  body,
  posts = CALLS,
  connections = CONNECTIONS,
  seconds = LONGEST,
  refused = false,
  numbered = 0,
  perSecond = Infinity,
}: Load): Promise<number> {
  const urls = typeof url === 'string' ? [url] : url
  const { origin } = new URL(urls[0]!)
  const paths = urls.map(each => each.slice(origin.length))
  const bodies = typeof body === 'string' ? [body] : body
  const order = { origin, paths, bodies, posts, connections, seconds, refused, numbered, perSecond }
  return wrkIsHere ? (await wrk(order)).answers : send(order)
}

/** The same without wrk. This process is often slower than what it measures, which then sleeps between calls: that costs it more. */
async function send(order: Order): Promise<number> {
  const { origin, paths, bodies, posts, connections, seconds, refused, numbered, perSecond } = order
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const headers = { 'content-type': 'application/json' }
  const begin = performance.now()
  const until = begin + seconds * 1000
  let sent = 0
  const worker = async (): Promise<void> => {
    while (sent < posts && performance.now() < until) {
      const path = paths[sent % paths.length]!
      const body = bodies[sent % bodies.length]!.replace('{n}', hex(numbered + sent))
      const due = begin + (sent * 1000) / perSecond
      sent += 1
      if (due > performance.now()) await pause(due - performance.now())
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
