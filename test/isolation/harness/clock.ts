/** Milliseconds on a clock that all processes of one machine share. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
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

/** How many milliseconds of a stretch of time fall into any of these stalls, which are in order and do not overlap. */
export function stalledWithin(from: number, to: number, stalls: readonly Stall[]): number {
  let [low, high] = [0, stalls.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (stalls[middle]![1] <= from) low = middle + 1
    else high = middle
  }
  let sum = 0
  for (let i = low; i < stalls.length && stalls[i]![0] < to; i++)
    sum += Math.min(to, stalls[i]![1]) - Math.max(from, stalls[i]![0])
  return sum
}

/** The stretches that are in any of these. */
export function union(stalls: readonly Stall[]): Stall[] {
  const all: Stall[] = []
  for (const [from, to] of stalls.toSorted(([a], [b]) => a - b)) {
    const last = all.at(-1)
    if (last === undefined || last[1] < from) all.push([from, to])
    else all[all.length - 1] = [last[0], Math.max(last[1], to)]
  }
  return all
}
