import { connect, type Socket } from 'node:net'
import { once } from 'node:events'

/** Another address of the loopback, so that one test can be several clients. */
export type Loopback = `127.0.0.${number}`

/** Opens sockets from an address, one after the other, with a listener for their errors; resolves when all are connected. */
export async function openFrom(address: Loopback, port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = []
  for (let i = 0; i < count; i++) {
    const socket = connect({ port, host: '127.0.0.1', localAddress: address })
    socket.on('error', () => undefined)
    await Promise.race([once(socket, 'connect'), once(socket, 'close')])
    sockets.push(socket)
  }
  return sockets
}

/** Sends bytes from an address and gives what comes back until the other side closes. */
export async function exchangeFrom(address: Loopback, port: number, bytes: string): Promise<string> {
  const [socket] = await openFrom(address, port, 1)
  const chunks: Buffer[] = []
  socket!.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket!.write(bytes)
  if (!socket!.closed) await once(socket!, 'close')
  return Buffer.concat(chunks).toString()
}

/** Closes them all. */
export function closeAll(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy()
}
