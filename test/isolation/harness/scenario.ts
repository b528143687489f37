import type { Test } from 'tap'
import { setTimeout as pause } from 'node:timers/promises'
import { forgetPeak, memoryIsVisible, peakResident, resident } from '../../support/memory.ts'
import { meteredByMethod } from '../../support/metered.ts'
import { until } from '../../support/until.ts'
import type { BystanderReport } from './bystander.ts'
import { usual, type Bounds, type Unmet } from './bounds.ts'
import { LoopWatch, sharedNow, type Stall } from './clock.ts'
import { connectionsTo } from './connections.ts'
import { findingsOf, isWorthAnotherPlay } from './findings.ts'
import { readReport, type Seen } from './seen.ts'
import { Ending, openStage, type Stage, type StageOptions } from './stage.ts'

const QUIET_MS = 400
const AFTER_MS = 200
const MiB = 2 ** 20

/** One way to do harm, and what a bystander may notice of it. */
export interface Scenario {
  readonly name: string
  /** What has to be there before the bystander makes its first call. */
  readonly before?: (stage: Stage) => Promise<unknown>
  /** Does it, and gives what is worth printing. */
  readonly attack: (stage: Stage) => Promise<unknown>
  /** Where it differs from what holds for all. */
  readonly bounds?: Partial<Bounds>
  /** Which of them do not hold yet. */
  readonly unmet?: Unmet
  /** Takes away what was there before, once the bystander has made its last call. */
  readonly afterwards?: (stage: Stage) => Promise<unknown>
  /** Puts right what the attack did to the nodes. */
  readonly restore?: (stage: Stage) => Promise<void> | void
  /** What else must be so; `result` is what the attack gave. */
  readonly also?: (t: Test, stage: Stage, result: any, seen: Seen) => Promise<void> | void
}

/** Plays one scenario from quiet to quiet. */
export async function play(
  stage: Stage,
  scenario: Scenario,
): Promise<{ seen: Seen; result: any; report: BystanderReport }> {
  const { gateway, nodes } = stage
  const loop = new LoopWatch()
  const begin = sharedNow()
  nodes.forget()
  nodes.run()
  const before = await connectionsTo(gateway.port)
  await scenario.before?.(stage)
  await stage.startBystander()
  await stage.phase('quiet')
  await pause(QUIET_MS)
  if (memoryIsVisible) await forgetPeak(gateway.pid)
  const had = memoryIsVisible ? await resident(gateway.pid) : 0
  await stage.phase('attack')
  const from = sharedNow()
  const result = await scenario.attack(stage)
  await scenario.restore?.(stage)
  await stage.phase('after')
  await pause(AFTER_MS)
  nodes.rest()
  const report = await stage.reportOfBystander(nodes.head)
  const { busy } = await stage.turns(from)
  await scenario.afterwards?.(stage)
  const left = async () => (await connectionsTo(gateway.port)) - before
  await until('the connections are closed', async () => !((await left()) > 0), 3_000).catch(() => undefined)
  const connections = await left()
  loop.stop()
  const memory = memoryIsVisible ? await peakResident(gateway.pid).catch(() => NaN) : had
  const { starved } = await stage.turns(begin)
  const stalls: Stall[] = [...loop.take(), ...starved]
  const seen: Seen = {
    ...readReport(report, stalls),
    busy: Math.max(0, ...busy),
    peak: memory / MiB,
    memory: (memory - had) / MiB,
    connections,
  }
  return { seen, result, report }
}

async function judge(t: Test, stage: Stage, scenario: Scenario): Promise<void> {
  const bounds = { ...usual, ...scenario.bounds }
  const plays: Seen[] = []
  do {
    const { seen, result, report } = await play(stage, scenario)
    plays.push(seen)
    t.comment(summaryOf(seen, result))
    t.ok(await stage.alive(), 'the process lives')
    t.notMatch(stage.gateway.printed, /internal error|uncaught/i, 'nothing ended as a bug')
    t.equal(await faultOfLedger(stage, report), null, 'the ledger is exact')
    await scenario.also?.(t, stage, result, seen)
  } while (t.passing() && isWorthAnotherPlay(plays, bounds))
  const { unmet = {} } = scenario
  for (const { kept, text, time } of findingsOf(plays, bounds)) {
    const todo = time === undefined ? undefined : unmet[time]
    t.ok(kept, text, todo === undefined ? {} : { todo })
  }
}

function summaryOf(seen: Seen, result: unknown): string {
  const { quiet, attacked, busy, memory, peak, wrong, ...rest } = seen
  const times = { quiet: Math.round(quiet), attacked: Math.round(attacked), busy: Math.round(busy) }
  const sizes = { memory: Math.round(memory), peak: Math.round(peak) }
  return JSON.stringify({ ...times, ...sizes, wrong: wrong.length, ...rest, result })
}

/** What the bystander's account says that the bystander did not count; null when all is the same within a second. */
async function faultOfLedger(stage: Stage, { metered }: BystanderReport): Promise<string | null> {
  let fault: string | null = null
  const agrees = async () => {
    const told: Record<string, number> = {}
    for (const access of [stage.good, stage.solana(stage.good)])
      for (const [method, { requests }] of await meteredByMethod(access))
        told[method] = (told[method] ?? 0) + requests
    const wrong = Object.keys({ ...told, ...metered }).find(method => told[method] !== metered[method])
    fault = wrong === undefined ? null : `${wrong}: ${String(told[wrong])}, counted ${String(metered[wrong])}`
    return fault === null
  }
  await until('the ledger agrees', agrees, 1_000).catch(() => undefined)
  return fault
}

/** The last that the gateway complained of; the end of what it printed, where it died. */
function warnings({ gateway }: Stage): string[] {
  const lines = gateway.printed
    .trimEnd()
    .split('\n')
    .filter(line => !/^\{"level":"(trace|debug|info)"/.test(line))
  return lines.slice(-6).map(line => line.slice(0, 500))
}

/** Plays scenarios on one stage; after one that failed the next gets a stage of its own. */
export async function playAll(
  t: Test,
  scenarios: readonly Scenario[],
  options: StageOptions = {},
): Promise<void> {
  let ending: Ending | undefined
  let stage: Stage | undefined
  t.teardown(() => ending?.end())
  for (const scenario of scenarios)
    await t.test(scenario.name, async t => {
      ending ??= new Ending()
      try {
        stage ??= await openStage(ending, options)
        await judge(t, stage, scenario)
      } catch (error) {
        t.fail(String(error))
      }
      if (t.passing()) return
      if (stage !== undefined) for (const line of warnings(stage)) t.comment(line)
      const failed = ending
      stage = ending = undefined
      await failed.end()
    })
}
