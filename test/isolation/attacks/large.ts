import { setTimeout as pause } from 'node:timers/promises'
import type { Target } from '../harness/stage.ts'
import { call, drop, open, openWebSocket, post, rawFrame } from './raw.ts'

const MiB = 2 ** 20

/** A call whose answer is so many bytes long. */
const getCode = (bytes: number, id: unknown = 1) =>
  call('eth_getCode', [`0x${bytes.toString(16).padStart(40, '0')}`, 'latest'], id)

/** Large answers over HTTP that nobody reads. */
export async function httpReplies({ port, paths }: Target): Promise<object> {
  const sockets = await Promise.all(Array.from({ length: 30 }, () => open(port)))
  for (const socket of sockets) {
    socket.pause()
    socket.write(post(paths.paid, getCode(4 * MiB)).repeat(4))
  }
  await pause(1_500)
  const open_ = sockets.filter(({ closed }) => !closed).length
  await drop(sockets)
  return { open: open_ }
}

/** Answers of 1 MiB over WebSockets of the public route that nobody reads, from a few addresses. */
export async function socketReplies({ port, paths }: Target): Promise<object> {
  const addresses = [2, 3, 4, 5, 6, 7, 8, 9]
  const sockets = await Promise.all(
    addresses.flatMap(last => [1, 2].map(() => openWebSocket(port, paths.public, `127.0.0.${last}`))),
  )
  for (const socket of sockets) {
    socket.pause()
    for (let i = 0; i < 15; i++) socket.send(getCode(2 * MiB, i))
  }
  await pause(2_500)
  for (const socket of sockets) socket.terminate()
  return { sockets: sockets.length }
}

/** Batches whose answers are many times what a batch may answer. */
export async function batches({ port, paths }: Target): Promise<object> {
  const body = `[${Array.from({ length: 200 }, (_, i) => getCode(4 * MiB, i)).join()}]`
  const sockets = await Promise.all([1, 2, 3].map(() => open(port)))
  let bytes = 0
  for (const socket of sockets) {
    socket.on('data', (chunk: Buffer) => (bytes += chunk.length))
    socket.write(post(paths.paid, body))
  }
  await pause(2_500)
  await drop(sockets)
  return { MiB: Math.round(bytes / MiB) }
}

/** Frames of 5 MiB that never end, on as many sockets as a plan allows. */
export async function frames({ port, paths }: Target): Promise<object> {
  const sockets = await Promise.all(Array.from({ length: 80 }, () => openWebSocket(port, paths.paid)))
  const head = rawFrame(5 * MiB)
  const rest = Buffer.alloc(5 * MiB - 1, ' ')
  for (const socket of sockets) {
    const raw = (socket as any)._socket
    raw?.write(head)
    raw?.write(rest)
  }
  await pause(2_000)
  const open_ = sockets.filter(({ readyState }) => readyState === 1).length
  for (const socket of sockets) socket.terminate()
  return { open: open_ }
}

/** Messages in fragments of one byte, without end. */
export async function fragments({ port, paths }: Target): Promise<object> {
  const codes: number[] = []
  const sockets = await Promise.all([1, 2, 3, 4].map(() => openWebSocket(port, paths.paid)))
  for (const socket of sockets) socket.on('close', code => codes.push(code))
  const first = Buffer.from([0x01, 0x81, 0, 0, 0, 0, 0x20])
  const next = Buffer.concat(Array.from({ length: 1_000 }, () => Buffer.from([0x00, 0x81, 0, 0, 0, 0, 0x20])))
  for (const socket of sockets) (socket as any)._socket.write(first)
  for (let i = 0; i < 50; i++) {
    for (const socket of sockets) if (socket.readyState === 1) (socket as any)._socket.write(next)
    await pause(20)
  }
  await pause(200)
  for (const socket of sockets) socket.terminate()
  return { codes }
}
