/** Long work on the thread that also serves calls. */
import { setImmediate as turn } from 'node:timers/promises'

/** Milliseconds of work after which calls get their turn. */
const SLICE = 5

/** Runs work that stops after each small step, with a turn for the calls every few milliseconds. */
export async function inTimeSlices<T>(steps: Generator<void, T>): Promise<T> {
  let begin = performance.now()
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (performance.now() - begin < SLICE) continue
    await turn()
    begin = performance.now()
  }
}

/** Runs it to its end without a pause. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
