/**
 * What the processes of a gateway have counted, those included that have ended: Prometheus takes a sum that falls for a counter that has begun
 * anew, and adds all of it once more.
 */
import type { Metrics } from '../../observe/metrics.ts'
import { countersOf, wholeMetrics } from '../../observe/whole-metrics.ts'
import { atOnce, inTimeSlices } from '../../reload/time-slices.ts'
import type { StateFile } from '../../stores/sqlite/state-file.ts'

/** What one process tells. */
export interface ProcessMetrics {
  /** Its id, and what tells it from others that have had the same. */
  readonly process: string
  /** In Prometheus' format. */
  readonly text: string
}

/** This process among all that there ever were on this machine. */
export const THIS_PROCESS = `${process.pid}-${Math.round(performance.timeOrigin)}`

/** What this process tells. */
export async function metricsOf(metrics: Metrics): Promise<ProcessMetrics> {
  return { process: THIS_PROCESS, text: (await metrics.text()).toString() }
}

interface Saved {
  readonly ended: string
  readonly running: Readonly<Record<string, string>>
}

/** Kept for the process that comes after this one. */
export class KeptCounters {
  readonly #state: StateFile
  /** What those have counted that have ended. */
  #ended: string
  /** The counters of each of the others, as last recorded. */
  readonly #running: Map<string, string>

  constructor(state: StateFile) {
    this.#state = state
    const saved = state.read('counters') as Saved | null
    this.#ended = saved?.ended ?? ''
    this.#running = new Map(Object.entries(saved?.running ?? {}))
  }

  /** Records the metrics of some processes; resolves when they are in the file. */
  async record(all: readonly ProcessMetrics[]): Promise<void> {
    for (const { process, text } of all) this.#running.set(process, await inTimeSlices(countersOf(text)))
    for (const [process, text] of this.#running)
      if (!isRunning(process) && !all.some(one => one.process === process)) {
        this.#running.delete(process)
        this.#ended = atOnce(wholeMetrics([this.#ended, text]))
      }
    const running = Object.fromEntries(this.#running)
    await this.#state.keep('counters', { ended: this.#ended, running } satisfies Saved)
  }

  /**
   * The texts to add up: of the processes that answered now, and what all others have counted. All of it is in the file then: the process that comes
   * after this one never shows less.
   */
  async with(now: readonly ProcessMetrics[]): Promise<readonly string[]> {
    await this.record(now)
    const heard = new Set(now.map(({ process }) => process))
    const silent = [...this.#running].filter(([process]) => !heard.has(process))
    return [...now.map(({ text }) => text), ...silent.map(([, text]) => text), this.#ended]
  }
}

function isRunning(name: string): boolean {
  try {
    return process.kill(Number.parseInt(name), 0)
  } catch {
    return false
  }
}
