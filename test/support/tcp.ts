import { connect, type Socket } from 'node:net'
import { once } from 'node:events'

/** A connected socket to 127.0.0.1 that never throws: its end shows in `close`. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => undefined)
  return socket
}

/** Writes raw bytes and gives everything that comes back until the other side closes. */
export async function exchange(port: number, bytes: string | Buffer): Promise<string> {
  const socket = await openSocket(port)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write(bytes)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString()
}

/** The status code of a raw HTTP reply, 0 when there is none. */
export function statusOf(reply: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(reply)?.[1] ?? 0)
}
