import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { SendQueue } from '../../src/http/websocket/send-queue.ts'

const MiB = 2 ** 20

/** A queue whose socket, clock and budget stand as the test says: `queued` waits here, `taken` the system has taken. */
function scene(t: Test) {
  const world = { now: 0, queued: 0, taken: 0, held: 0, isOverdrawn: false }
  t.intercept(performance, 'now', { value: () => world.now })
  const socket = {
    get writableLength() {
      return world.queued
    },
    get _handle() {
      return { bytesWritten: world.taken + 100, writeQueueSize: 100 }
    },
  } as unknown as Socket
  const budget = {
    isSpent: false,
    get isOverdrawn() {
      return world.isOverdrawn
    },
    take: () => t.fail('what is queued is held already') as never,
    giveBack: (bytes: number) => void (world.held -= bytes),
  }
  return { world, queue: new SendQueue(socket, budget) }
}

t.test('more is not read from a client above a MiB', t => {
  const { world, queue } = scene(t)
  const isLongAt = (queued: number): boolean => ((world.queued = queued), queue.isLong)
  t.strictSame([0, MiB, MiB + 1].map(isLongAt), [false, false, true])
  t.end()
})

t.test('a client that takes nothing is over six seconds after 16 MiB, any client at 64 MiB', t => {
  const { world, queue } = scene(t)
  const isOverAt = (now: number, queued: number): boolean => {
    Object.assign(world, { now, queued })
    return queue.isOver()
  }
  t.strictSame([isOverAt(0, 16 * MiB - 1), isOverAt(60_000, 16 * MiB - 1)], [false, false])
  world.taken = 1
  t.strictSame(
    [isOverAt(60_000, 16 * MiB), isOverAt(65_999, 16 * MiB), isOverAt(66_000, 16 * MiB)],
    [false, false, true],
  )
  world.taken = 2
  t.equal(isOverAt(66_001, 16 * MiB), false, 'a byte is progress')
  t.strictSame([isOverAt(66_001, 64 * MiB - 1), isOverAt(66_001, 64 * MiB)], [false, true])
  t.end()
})

t.test('while memory is overdrawn 64 KiB are too many, a smaller queue never is', t => {
  const { world, queue } = scene(t)
  world.isOverdrawn = true
  world.queued = 64 * 1024
  t.equal(queue.isOver(), false)
  world.queued += 1
  t.equal(queue.isOver(), true)
  t.end()
})

t.test('a long queue is stuck after ten seconds without progress, one of 16 MiB after six', t => {
  const { world, queue } = scene(t)
  const isStuckAt = (now: number, queued: number): boolean => {
    Object.assign(world, { now, queued })
    return queue.isStuck()
  }
  t.strictSame(
    [isStuckAt(0, 2 * MiB), isStuckAt(9_999, 2 * MiB), isStuckAt(10_000, 2 * MiB)],
    [false, false, true],
  )
  t.strictSame([isStuckAt(10_000, MiB), isStuckAt(10_001, 16 * MiB)], [false, true])
  t.equal(isStuckAt(10_002, 0), false)
  t.strictSame(
    [isStuckAt(16_001, 16 * MiB), isStuckAt(16_002, 16 * MiB)],
    [false, true],
    'since it was last empty',
  )
  t.end()
})

t.test('what is queued is counted as it is, but for the last 4 KiB, and given back once', t => {
  const { world, queue } = scene(t)
  const heldAt = (queued: number): number => {
    world.queued = queued
    queue.count()
    return world.held
  }
  t.strictSame(
    [0, 4_096, 4_097, 10_000, 4_097, 4_096, 5_000].map(heldAt),
    [0, 0, 4_097, 10_000, 4_097, 0, 5_000],
  )
  queue.close()
  queue.close()
  t.equal(world.held, 0)
  t.end()
})
