import { readFileSync } from 'node:fs'

/** Milliseconds on a clock that all processes of one machine share. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Milliseconds that the main thread of a process has spent waiting for a CPU since its start; 0 where the kernel does not count them. */
export function cpuWait(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

/** A stretch of time on the shared clock, in which an event loop did not run. */
export type Stall = readonly [from: number, to: number]

const EVERY_MS = 5

/** Records when the event loop of this process did not run, for whatever reason: busy, collecting garbage, no CPU. */
export class LoopWatch {
  readonly #stalls: Stall[] = []
  #due = sharedNow() + EVERY_MS
  readonly #timer = setInterval(() => {
    const now = sharedNow()
    if (now - this.#due > EVERY_MS) this.#stalls.push([this.#due, now])
    this.#due = now + EVERY_MS
  }, EVERY_MS)

  /** The stalls since it was last asked. */
  take(): Stall[] {
    return this.#stalls.splice(0)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** How many milliseconds of a stretch of time fall into any of these stalls. */
export function stalledWithin(from: number, to: number, stalls: readonly Stall[]): number {
  let sum = 0
  for (const [begin, end] of stalls) sum += Math.max(0, Math.min(to, end) - Math.max(from, begin))
  return sum
}
