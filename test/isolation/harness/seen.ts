import type { BystanderReport, Sample } from './bystander.ts'
import { stalledWithin, union, type Stall } from './clock.ts'

/** What one scenario showed. */
export interface Seen {
  /** 99th percentiles, in milliseconds. */
  readonly quiet: number
  readonly attacked: number
  readonly calls: number
  /** Reasons of refusals, with their number. */
  readonly refused: Readonly<Record<string, number>>
  /** Wrong answers, and calls without any. */
  readonly wrong: readonly string[]
  /** Calls by route since the attack began. */
  readonly routes: Readonly<Record<string, number>>
  /** Blocks that were announced to it once and in order; null where that is so, else what came. */
  readonly heads: string | null
  /** The longest turn of the gateway's event loop, in milliseconds. */
  readonly busy: number
  /** MiB of the gateway's resident memory at its peak, and by how much that is more than before. */
  readonly peak: number
  readonly memory: number
  /** Connections to the gateway after the attack, above those before it. */
  readonly connections: number
}

/** The 99th percentile; of fewer than a hundred values it is the highest but one at most. */
export function p99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * 0.99) - 1)] ?? 0
}

/** How long a call took, without the time for which the harness was late, or the gateway had no CPU. */
export function tookOf({ at, took }: Sample, stalls: readonly Stall[]): number {
  return Math.max(0, took - stalledWithin(at, at + took, stalls))
}

/** How often each of them is there. */
export function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

/** What the calls of a bystander say; `stalls` are those of the nodes' process, and of a gateway without a CPU. */
export function readReport(
  { samples, stalls: own, unanswered, heads, closed }: BystanderReport,
  stalls: readonly Stall[],
): Pick<Seen, 'quiet' | 'attacked' | 'calls' | 'refused' | 'wrong' | 'routes' | 'heads'> {
  const late = union([...own, ...stalls])
  const of = (wanted: boolean) =>
    samples.filter(({ phase }) => (phase === 'quiet') === wanted).map(sample => tookOf(sample, late))
  const wrong = samples.filter(({ ok, reason }) => !ok && reason === '')
  const broken = heads.findIndex((number, i) => i > 0 && number !== heads[i - 1]! + 1)
  return {
    quiet: p99(of(true)),
    attacked: p99(of(false)),
    calls: samples.length,
    refused: tally(samples.flatMap(({ reason }) => (reason === '' ? [] : [reason]))),
    wrong: [
      ...wrong.map(({ method, status, text }) => `${method}: ${status} ${text}`),
      ...Array.from({ length: unanswered }, () => 'no answer'),
    ],
    routes: tally(samples.flatMap(({ phase, route }) => (phase === 'quiet' || route === '' ? [] : [route]))),
    heads:
      closed !== null
        ? `its socket was closed with ${closed}`
        : broken > 0
          ? heads.slice(Math.max(0, broken - 3), broken + 3).join()
          : null,
  }
}
