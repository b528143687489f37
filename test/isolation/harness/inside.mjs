// Loaded into the gateway before its program: records when its event loop was busy for long, and can step its wall clock.
import { appendFileSync, readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const EVERY_MS = 5
const LONG_MS = 10
const SHORT_MS = 1

/** Milliseconds that this thread has waited for a CPU: no fault of the program. */
function cpuWait() {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

/** Writes a line `<begin> <ms busy> <ms without a CPU>` for each long turn of the loop, on the monotonic clock. */
function watchLoop(file) {
  const now = () => Number(process.hrtime.bigint()) / 1e6
  let last = now()
  let waited = cpuWait()
  setInterval(() => {
    const [at, wait] = [now(), cpuWait()]
    const starved = wait - waited
    const busy = at - last - EVERY_MS - starved
    if (busy > LONG_MS || starved > SHORT_MS) appendFileSync(file, `${last} ${busy} ${starved}\n`)
    last = now()
    waited = cpuWait()
  }, EVERY_MS).unref()
}

/** Moves `Date` by as many milliseconds as a file says. */
function followClock(file) {
  const RealDate = Date
  let shift = 0
  globalThis.Date = class Date extends RealDate {
    constructor(...args) {
      if (args.length === 0) super(RealDate.now() + shift)
      else super(...args)
    }
    static now() {
      return RealDate.now() + shift
    }
  }
  setInterval(() => {
    try {
      shift = Number(readFileSync(file, 'utf8'))
    } catch {
      shift = 0
    }
  }, 20).unref()
}

if (isMainThread && process.env.TEST_LOOP_FILE) watchLoop(process.env.TEST_LOOP_FILE)
if (isMainThread && process.env.TEST_CLOCK_FILE) followClock(process.env.TEST_CLOCK_FILE)
