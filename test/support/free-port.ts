import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that systems give to who asks for any: what runs beside must not be given it meanwhile. */
const [FIRST, COUNT] = [15_000, 15_000]

/** A port of 127.0.0.1 that nobody listens on, for what must be known before a gateway starts. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT)
    if (await isFree(port)) return port
  }
}

/** The same for a program that listens on another port as well, which is so far above the first. */
export async function freePortPair(apart: number): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (COUNT - apart))
    if ((await isFree(port)) && (await isFree(port + apart))) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  const isListening = await once(server, 'listening').then(
    () => true,
    () => false,
  )
  if (!isListening) return false
  server.close()
  await once(server, 'close')
  return true
}
