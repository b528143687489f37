/** `tollgate check`: everything that is wrong with the YAML, or what was compiled. */
import { formatProblem } from '../config/problem.ts'
import type { Problem } from '../config/problem.ts'
import { loadSnapshot } from '../load-snapshot.ts'
import type { Snapshot } from '../snapshot/types.ts'
import { print, readArguments } from './command.ts'
import type { Command } from './command.ts'

interface Counts {
  readonly networks: number
  readonly routes: number
  readonly methods: number
  readonly plans: number
}

export const check: Command = {
  usage: `tollgate check [--config DIR] [--json]

Prints each problem as file:line:column path: what is wrong, and exits 1 when there is an error. Warnings alone exit 0.
Use it in CI before a configuration goes live.`,

  async run(args, io) {
    const { config, json } = readArguments(args, [])
    const { snapshot, problems } = await loadSnapshot(config, io.env)
    const ok = snapshot !== null
    const counts = countsOf(snapshot)
    print(io, json, { ok, problems, counts }, () => [
      ...problems.map(formatProblem),
      summary(ok, problems, counts),
    ])
    return ok ? 0 : 1
  },
}

function countsOf(snapshot: Snapshot | null): Counts {
  const networks = snapshot === null ? [] : Object.values(snapshot.networks)
  const sum = (count: (network: (typeof networks)[number]) => number): number =>
    networks.reduce((total, network) => total + count(network), 0)
  return {
    networks: networks.length,
    routes: sum(network => network.routes.length + network.disabled.length),
    methods: sum(network => Object.keys(network.methods).length + network.patterns.length),
    plans: snapshot === null ? 0 : Object.keys(snapshot.plans).length,
  }
}

function summary(
  ok: boolean,
  problems: readonly Problem[],
  { networks, routes, methods, plans }: Counts,
): string {
  const errors = problems.filter(problem => problem.severity === 'error').length
  if (!ok) return errors === 1 ? '1 error' : `${errors} errors`
  return `ok: ${networks} networks, ${routes} routes, ${methods} methods, ${plans} plans`
}
