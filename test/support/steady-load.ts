import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Access } from './access.ts'

/** One call of a load and what came back; status 0 when the connection broke. */
export interface LoadedCall {
  readonly body: string
  /** When it was sent, on the clock of `performance.now()`. */
  readonly at: number
  /** How long its answer took, in milliseconds. */
  readonly took: number
  readonly status: number
  readonly text: string
}

/** Sends so many calls a second, however long their answers take, until it is over; gives all when the last is answered. */
export async function steadyLoad(
  access: Access,
  perSecond: number,
  bodyOf: (n: number) => string,
  isOver: (sent: readonly { readonly at: number }[]) => boolean,
): Promise<LoadedCall[]> {
  const pool = new Pool(access.gateway.url, { connections: 200, pipelining: 1 })
  const begin = performance.now()
  const sent: { at: number; done: Promise<LoadedCall> }[] = []
  while (!isOver(sent)) {
    const due = ((performance.now() - begin) / 1000) * perSecond
    while (sent.length < due)
      sent.push({ at: performance.now(), done: send(pool, access.path, bodyOf(sent.length)) })
    await pause(5)
  }
  const calls = await Promise.all(sent.map(({ done }) => done))
  await pool.close()
  return calls
}

async function send(pool: Pool, path: string, body: string): Promise<LoadedCall> {
  const at = performance.now()
  const headers = { 'content-type': 'application/json' }
  try {
    const reply = await pool.request({ path, method: 'POST', headers, body })
    const text = await reply.body.text()
    return { body, at, took: performance.now() - at, status: reply.statusCode, text }
  } catch {
    return { body, at, took: performance.now() - at, status: 0, text: '' }
  }
}
