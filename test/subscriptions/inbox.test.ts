import { EventEmitter } from 'node:events'
import t from 'tap'
import type { WebSocket } from 'ws'
import { Inbox } from '../../src/subscriptions/socket/inbox.ts'
import type { Reader, ReadingTurns } from '../../src/subscriptions/socket/reading-turns.ts'

/** A socket's inbox in a loop that has time while `world.hasTime`; `read` is what was read, `waiting` who asked for a turn. */
function scene() {
  const socket = Object.assign(new EventEmitter(), {
    isPaused: false,
    pause: () => void (socket.isPaused = true),
    resume: () => void (socket.isPaused = false),
  })
  const world = { hasTime: true }
  const [read, waiting]: [string[], Reader[]] = [[], []]
  const turns = { hasTime: () => world.hasTime, wait: (reader: Reader) => waiting.push(reader) }
  const inbox = new Inbox(socket as unknown as WebSocket, turns as unknown as ReadingTurns, frame =>
    read.push(frame.toString()),
  )
  const come = (...frames: readonly string[]): void => {
    for (const frame of frames) socket.emit('message', Buffer.from(frame), false)
  }
  return { socket, world, read, waiting, inbox, come }
}

t.test('frames are read as they come while there is time, a binary one as nothing', t => {
  const { socket, read, come } = scene()
  come('a', 'b')
  socket.emit('message', Buffer.from('binary'), true)
  t.strictSame([read, socket.isPaused], [['a', 'b', ''], false])
  t.end()
})

t.test('what waits is read one a turn, in order, and the socket pauses until the last', t => {
  const { socket, world, read, inbox, come } = scene()
  world.hasTime = false
  come('a', 'b')
  world.hasTime = true
  come('c')
  t.strictSame([read, socket.isPaused], [[], true], 'none overtakes those that wait')
  t.strictSame([inbox.readOne(), inbox.readOne(), socket.isPaused], [true, true, true])
  t.strictSame([inbox.readOne(), socket.isPaused, read], [false, false, ['a', 'b', 'c']])
  come('d')
  t.strictSame([inbox.readOne(), read.at(-1)], [false, 'd'])
  t.end()
})

t.test('a socket that is over has nothing to read', t => {
  const { world, read, inbox, come } = scene()
  world.hasTime = false
  come('a', 'b')
  inbox.clear()
  t.strictSame([inbox.readOne(), read], [false, []])
  t.end()
})
