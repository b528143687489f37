/** Streams one long reply through to the client in flat memory. */
import type { BadCall, Call } from '../../jsonrpc/message.ts'
import { replyHead } from '../../jsonrpc/raw.ts'
import type { StreamedBody } from '../../routes/transport/streamed-body.ts'
import type { StreamAnswer } from './answer.ts'
import type { Sent } from '../settle.ts'
import type { Sink } from './sink.ts'

/** Writes the reply around the node's value; a notification's is read to its end and dropped. */
export async function sendStream(
  { member, body }: StreamAnswer,
  { id, isVersion1 = false }: Call | BadCall,
  sink: Sink,
): Promise<Sent> {
  let bytesOut = 0
  const write = async (piece: Buffer): Promise<void> => {
    bytesOut += piece.length
    if (id !== undefined && !(await sink.write(piece))) throw new Error('the client is gone')
  }
  if (id !== undefined) leaveWith(sink, body)
  try {
    if (id !== undefined) sink.begin()
    await write(Buffer.from(replyHead(member, id ?? 'null', isVersion1), 'latin1'))
    for await (const piece of body) await write(piece)
    await write(Buffer.from('}'))
  } catch {
    body.destroy()
    sink.cut()
    return { bytesOut, cut: true, cutByNode: body.isBrokenOff }
  }
  if (id === undefined) sink.empty()
  else sink.end()
  return { bytesOut: id === undefined ? 0 : bytesOut, cut: false }
}

/** A client that leaves lets go of the body at once: what breaks afterwards is not the upstream's doing. */
export function leaveWith(sink: Sink, body: StreamedBody): void {
  const { departure } = sink
  if (departure?.isOver === true) body.destroy()
  else
    departure?.on(() => {
      body.destroy()
    })
}
