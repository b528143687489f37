/** What a process keeps: its memory after full collections, asked through Node's inspector on the loopback. */
import { once } from 'node:events'
import { WebSocket } from 'ws'

/** Lets `keptMemory` ask; for the environment of the process. */
export const INSPECTED = { NODE_OPTIONS: '--inspect=127.0.0.1:0' }

const QUESTION = 'const { heapUsed, external } = process.memoryUsage(); heapUsed + external'

/** Bytes of the heap and of buffers that are still reachable. `printed` is what the process has printed. */
export async function keptMemory(printed: string): Promise<number> {
  const url = printed.match(/ws:\/\/127\.0\.0\.1:\S+/g)?.at(-1)
  if (url === undefined) throw new Error('the process was not started to be inspected')
  const inspector = new WebSocket(url)
  await once(inspector, 'open')
  const ask = async (id: number, method: string, params: object = {}): Promise<unknown> => {
    inspector.send(JSON.stringify({ id, method, params }))
    for (;;) {
      const [data] = (await once(inspector, 'message')) as [Buffer]
      const message = JSON.parse(data.toString('utf8')) as { id?: number; result?: unknown }
      if (message.id === id) return message.result
    }
  }
  try {
    // The second takes what only the finalizers of the first have let go.
    for (const id of [1, 2]) await ask(id, 'HeapProfiler.collectGarbage')
    const { result } = (await ask(3, 'Runtime.evaluate', { expression: `{ ${QUESTION} }` })) as {
      result: { value: number }
    }
    return result.value
  } finally {
    inspector.close()
    await once(inspector, 'close')
  }
}
