/** What every implementation of the port Clock keeps to: the process's own, and the one that tests move. */
import t from 'tap'
import { systemClock } from '../../src/ports/clock.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { TestClock } from '../support/test-clock.ts'

/** A clock, and how to let a number of milliseconds go by. */
interface Opened {
  readonly clock: Clock
  readonly pass: (ms: number) => void
}

const implementations: Readonly<Record<string, () => Opened>> = {
  system: () => ({ clock: systemClock, pass: () => undefined }),
  test: () => {
    const clock = new TestClock()
    const pass = (ms: number): void => {
      setImmediate(() => {
        clock.advance(ms)
      })
    }
    return { clock, pass }
  },
}

for (const [name, make] of Object.entries(implementations)) {
  t.test(`${name}: alarms go off in the order of their times, none before its own`, async t => {
    const { clock, pass } = make()
    const [begin, wall] = [clock.monotonic(), clock.now()]
    const order: string[] = []
    const ends = await new Promise<readonly number[]>(resolve => {
      const times: number[] = []
      const ring = (which: string) => () => {
        order.push(which)
        times.push(clock.monotonic())
        if (times.length === 2) resolve(times)
      }
      clock.after(30, ring('late'))
      clock.after(10, ring('soon'))
      pass(30)
    })
    t.strictSame(order, ['soon', 'late'])
    // Timers of the system may be a fraction of a millisecond early by this clock.
    t.ok(ends[0]! - begin > 9 && ends[1]! - begin > 29, `${ends.map(at => at - begin).join(', ')} ms`)
    t.ok(clock.now() > wall)
  })

  t.test(`${name}: an alarm that was taken back does not go off`, async t => {
    const { clock, pass } = make()
    let rung = false
    const takeBack = clock.after(1, () => (rung = true))
    takeBack()
    const over = new Promise<void>(resolve => clock.after(5, resolve))
    pass(5)
    await over
    t.notOk(rung)
    takeBack()
  })
}
