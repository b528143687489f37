import { Pool } from 'undici'

/** Sends `calls` POSTs over a few connections, as many at a time; rejects on any status but `expected`. */
export async function load(
  url: string,
  body: string,
  { calls, connections, expected = 200 }: { calls: number; connections: number; expected?: number },
): Promise<void> {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections, pipelining: 1 })
  let left = calls
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      const reply = await pool.request({
        path: pathname,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      await reply.body.dump()
      if (reply.statusCode !== expected) throw new Error(`HTTP ${reply.statusCode} from ${url}`)
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  await pool.close()
}
