/** From a directory of YAML to a snapshot, or to everything that is wrong with it. */
import { loadConfig } from './config/load.ts'
import type { Loaded } from './config/load.ts'
import type { Problem } from './config/problem.ts'
import { compile } from './snapshot/compile.ts'
import type { Snapshot } from './snapshot/types.ts'
import { warningsOf } from './snapshot/warnings.ts'

/** A snapshot with the warnings about it, or the problems that keep it from being one. */
export interface LoadedSnapshot {
  readonly snapshot: Snapshot | null
  readonly problems: readonly Problem[]
  readonly locate: Loaded['locate']
}

/** Reads and compiles the configuration of a directory. */
export async function loadSnapshot(
  dir: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<LoadedSnapshot> {
  const { config, problems, locate } = await loadConfig(dir, env)
  if (config === null) return { snapshot: null, problems, locate }
  const snapshot = compile(config)
  return { snapshot, problems: [...problems, ...warningsOf(snapshot, locate)], locate }
}

/** Plans that accounts use may not vanish from plans.yaml. */
export function missingPlans(
  snapshot: Snapshot,
  inUse: readonly string[],
  locate: Loaded['locate'],
): readonly Problem[] {
  const missing = inUse.filter(plan => snapshot.plans[plan] === undefined)
  if (missing.length === 0) return []
  const names = missing.map(plan => `"${plan}"`).join(', ')
  return [
    {
      file: 'plans.yaml',
      ...locate('plans.yaml', ['plans']),
      path: 'plans',
      severity: 'error',
      message: `accounts use ${missing.length === 1 ? 'a plan that is' : 'plans that are'} not here: ${names}`,
      hint: 'move them to another plan first (tollgate account set-plan)',
    },
  ]
}
