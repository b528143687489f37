/** From a directory of YAML to a configuration and its snapshot, or to everything that is wrong with it. */
import { readCertificate } from './config/certificate.ts'
import { loadConfig } from './config/load.ts'
import type { Loaded } from './config/load.ts'
import type { Problem } from './config/problem.ts'
import type { Config } from './config/types.ts'
import { compile } from './snapshot/compile.ts'
import type { Snapshot } from './snapshot/types.ts'
import { warningsOf } from './snapshot/warnings.ts'

/** A place in a file, 1-based. */
export type Place = ReturnType<Loaded['locate']>

/** A configuration with the problems found in it; warnings do not keep it from being served. */
export interface LoadedSnapshot {
  /** Both null when there is an error. */
  readonly config: Config | null
  readonly snapshot: Snapshot | null
  readonly problems: readonly Problem[]
  /** Where plans.yaml lists its plans: for problems that only the accounts can tell. */
  readonly plansAt: Place
}

/** Reads and compiles the configuration of a directory. */
export async function loadSnapshot(
  dir: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<LoadedSnapshot> {
  const { config, problems, locate } = await loadConfig(dir, env)
  const plansAt = locate('plans.yaml', ['plans'])
  if (config === null) return { config, snapshot: null, problems, plansAt }
  const certificate = await certificateProblems(config, locate)
  if (certificate.length > 0)
    return { config: null, snapshot: null, problems: [...problems, ...certificate], plansAt }
  const snapshot = compile(config)
  return { config, snapshot, problems: [...problems, ...warningsOf(snapshot, locate)], plansAt }
}

async function certificateProblems(
  { gateway: { tls } }: Config,
  locate: Loaded['locate'],
): Promise<readonly Problem[]> {
  if (tls === null) return []
  const read = await readCertificate(tls)
  if (!('at' in read)) return []
  const { at, ...told } = read
  const file = 'gateway.yaml'
  return [{ file, ...locate(file, ['tls', at]), path: `tls.${at}`, severity: 'error', ...told }]
}

/** Plans that accounts use may not vanish from plans.yaml. */
export function missingPlans(
  { plans }: { readonly plans: readonly { readonly name: string }[] },
  inUse: readonly string[],
  plansAt: Place,
): readonly Problem[] {
  const missing = inUse.filter(plan => !plans.some(({ name }) => name === plan))
  if (missing.length === 0) return []
  const names = missing.map(plan => `"${plan}"`).join(', ')
  return [
    {
      file: 'plans.yaml',
      ...plansAt,
      path: 'plans',
      severity: 'error',
      message: `accounts use ${missing.length === 1 ? 'a plan that is' : 'plans that are'} not here: ${names}`,
      hint: 'move them to another plan first (tollgate account set-plan)',
    },
  ]
}
