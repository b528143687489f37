/**
 * What the processes of a gateway have counted, those included that have ended: Prometheus takes a sum that falls for a counter that has begun
 * anew, and adds all of it once more.
 */
import { readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import type { Metrics } from '../observe/metrics.ts'
import { countersOf, wholeMetrics } from '../observe/whole-metrics.ts'
import { atOnce, inTimeSlices } from '../reload/time-slices.ts'

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

/** The file. */
interface Saved {
  readonly gateway: string
  readonly ended: string
  readonly running: Readonly<Record<string, string>>
}

/** Kept in a file, for the process that comes after this one. */
export class KeptCounters {
  readonly #file: string
  /** What the gateway is called from its start to its end; what another has left is nothing to add to. */
  readonly #gateway: string
  readonly #failed: (error: Error) => void
  /** What those have counted that have ended. */
  #ended = ''
  /** The counters of each of the others, as last recorded. */
  readonly #running = new Map<string, string>()
  #saving: Promise<void> | null = null
  #isSaved = true
  #hasFailed = false

  /** `failed` hears when the file cannot be written, once. */
  constructor(file: string, gateway: string, failed: (error: Error) => void) {
    this.#file = file
    this.#gateway = gateway
    this.#failed = failed
    const saved = read(file)
    if (saved?.gateway !== gateway) return
    this.#ended = saved.ended
    this.#running = new Map(Object.entries(saved.running))
  }

  /** Records the metrics of some processes. */
  async record(all: readonly ProcessMetrics[]): Promise<void> {
    for (const { process, text } of all) this.#running.set(process, await inTimeSlices(countersOf(text)))
    for (const [process, text] of this.#running)
      if (!isRunning(process) && !all.some(one => one.process === process)) {
        this.#running.delete(process)
        this.#ended = atOnce(wholeMetrics([this.#ended, text]))
      }
    this.#isSaved = false
    this.#saving ??= this.#save()
  }

  /**
   * The texts to add up: of the processes that answered now, and what all others have counted. All of it is in the file then: the process that comes
   * after this one never shows less.
   */
  async with(now: readonly ProcessMetrics[]): Promise<readonly string[]> {
    await this.record(now)
    await this.saved()
    const heard = new Set(now.map(({ process }) => process))
    const silent = [...this.#running].filter(([process]) => !heard.has(process))
    return [...now.map(({ text }) => text), ...silent.map(([, text]) => text), this.#ended]
  }

  /** Resolves when the file has everything. */
  async saved(): Promise<void> {
    await this.#saving
  }

  async #save(): Promise<void> {
    while (!this.#isSaved) {
      this.#isSaved = true
      const running = Object.fromEntries(this.#running)
      const saved: Saved = { gateway: this.#gateway, ended: this.#ended, running }
      try {
        await writeFile(`${this.#file}.new`, JSON.stringify(saved), { mode: 0o600 })
        await rename(`${this.#file}.new`, this.#file)
      } catch (error) {
        if (!this.#hasFailed) this.#failed(error as Error)
        this.#hasFailed = true
      }
    }
    this.#saving = null
  }
}

/** What is there to be read; null where it is not, or is no whole file. */
function read(file: string): Saved | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Saved
  } catch {
    return null
  }
}

function isRunning(name: string): boolean {
  try {
    return process.kill(Number.parseInt(name), 0)
  } catch {
    return false
  }
}
