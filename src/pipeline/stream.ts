/** Streams one long reply through to the client in flat memory. */
import type { Raw } from '../jsonrpc/raw.ts'
import { relayValue } from '../jsonrpc/relay.ts'
import type { StreamAnswer } from './answer.ts'
import type { Sink } from './sink.ts'

/** Writes the reply around the node's value; a notification's is read to its end and dropped. */
export async function deliverStream(
  answer: StreamAnswer,
  id: Raw | undefined,
  sink: Sink,
): Promise<{ bytesOut: number; cut: boolean }> {
  let bytesOut = 0
  const write = async (piece: Buffer): Promise<void> => {
    bytesOut += piece.length
    if (id !== undefined && !(await sink.write(piece))) throw new Error('the client is gone')
  }
  try {
    if (id !== undefined) sink.begin()
    await write(Buffer.from(`{"jsonrpc":"2.0","id":${id ?? 'null'},"${answer.member}":`, 'latin1'))
    for await (const piece of relayValue(answer.head, answer, answer.tail, answer.sentAs)) await write(piece)
    await write(Buffer.from('}'))
  } catch {
    answer.tail.destroy()
    sink.cut()
    return { bytesOut, cut: true }
  }
  if (id === undefined) sink.empty()
  else sink.end()
  return { bytesOut: id === undefined ? 0 : bytesOut, cut: false }
}
