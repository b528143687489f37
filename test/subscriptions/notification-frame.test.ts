import t from 'tap'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'
import { NotificationFrame } from '../../src/subscriptions/client/notification-frame.ts'

/** A connection to a client of ws, and the messages that it is sent. */
async function scene(): Promise<{ socket: Socket; next: (count: number) => Promise<string[]> }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  t.teardown(() => server.close())
  await once(server, 'listening')
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  t.teardown(() => client.terminate())
  const [, { socket }] = (await once(server, 'connection')) as [unknown, { socket: Socket }]
  const come: string[] = []
  client.on('message', (data: Buffer, isBinary) => come.push(isBinary ? 'binary' : data.toString('latin1')))
  const next = async (count: number): Promise<string[]> => {
    while (come.length < count) await once(client, 'message')
    return come.splice(0)
  }
  return { socket, next }
}

t.test('is a text frame of any length, with any id', async t => {
  const { socket, next } = await scene()
  for (const length of [8, 125, 126, 65_535, 65_536, 1_000_000]) {
    const frame = new NotificationFrame(['{"id":', `${' '.repeat(length - 8)}}`])
    const ids = ['1', '2', '33', '4']
    for (const id of ids) socket.write(frame.with(id))
    const messages = await next(ids.length)
    t.strictSame(
      messages.map(each => each.replace(/ +/, '')),
      ids.map(id => `{"id":${id}}`),
    )
    t.strictSame(
      messages.map(each => each.length),
      ids.map(id => frame.lengthWith(id)),
    )
    t.equal(messages[0]!.length, length)
  }
})

t.test('bytes beyond ASCII are those of the node', async t => {
  const { socket, next } = await scene()
  const raw = Buffer.from('"é"').toString('latin1')
  socket.write(new NotificationFrame(['{"id":', `,"result":${raw}}`]).with('7'))
  t.strictSame(await next(1), [`{"id":7,"result":${raw}}`])
})

t.test('what one client gets does not change with the next id', t => {
  const frame = new NotificationFrame(['[', ']'])
  const [first, second] = [frame.with('1'), frame.with('2')]
  t.strictSame([first.toString('latin1', 2), second.toString('latin1', 2)], ['[1]', '[2]'])
  t.end()
})
