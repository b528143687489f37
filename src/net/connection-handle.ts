/** Connections that go from one process to another: what the system knows of them, without what a process has made of it. */
import { Socket } from 'node:net'
import type { SocketConstructorOpts } from 'node:net'

/** Node's own handle of a TCP connection. What was not read of it yet is read by whoever has it. */
export interface ConnectionHandle {
  /** Bytes that are still to be written. */
  readonly writeQueueSize: number
  readStop(): number
  close(): void
}

/** A socket, and what it is made of. */
type HandledSocket = Socket & { _handle?: ConnectionHandle | null }

/** Takes a connection off its socket, which is over with that; null where the socket has none. */
export function detach(socket: HandledSocket): ConnectionHandle | null {
  const handle = socket._handle ?? null
  if (handle === null) return null
  handle.readStop()
  socket._handle = null
  socket.destroy()
  return handle
}

/** Whether all that was written has left. */
export function isWritten(socket: HandledSocket): boolean {
  return socket.writableLength === 0 && socket._handle?.writeQueueSize === 0
}

/** A socket of it on which nothing is read: it goes on to another process. */
export function attachPaused(handle: ConnectionHandle): Socket {
  return new Socket({ handle, pauseOnCreate: true } as unknown as SocketConstructorOpts)
}
