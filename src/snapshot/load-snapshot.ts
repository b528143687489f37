/** From a directory of YAML to a configuration and its snapshot, or to everything that is wrong with it. */
import { readCertificate } from '../config/certificate.ts'
import { loadConfig } from '../config/load.ts'
import type { Loaded } from '../config/load.ts'
import { unacknowledged } from '../config/problem.ts'
import type { Problem } from '../config/problem.ts'
import type { Config } from '../config/types.ts'
import { compile } from './compile.ts'
import type { Snapshot } from './types.ts'
import { warningsOf } from './warnings.ts'

/** A place in a file, 1-based. */
export type Place = ReturnType<Loaded['locate']>

/** A configuration with the problems found in it; warnings do not keep it from being served. */
export interface LoadedSnapshot {
  /** Both null when there is an error. */
  readonly config: Config | null
  readonly snapshot: Snapshot | null
  readonly problems: readonly Problem[]
  readonly places: Places
}

/** Where things stand that only accounts or the machine can say something against. */
export type Places = Readonly<
  Record<'plans' | 'networks' | 'listen' | 'admin' | 'probes' | 'dataDir' | 'postgres' | 'redis', Place>
>

/** Reads and compiles the configuration of a directory; `port` is the one that is listened on whatever the files say. */
export async function loadSnapshot(
  dir: string,
  env: Readonly<Record<string, string | undefined>>,
  port?: number,
): Promise<LoadedSnapshot> {
  const { config, problems, locate } = await loadConfig(dir, env, port)
  const places = {
    plans: locate('plans.yaml', ['plans']),
    networks: locate('networks.yaml', ['networks']),
    listen: locate('gateway.yaml', ['listen']),
    admin: locate('gateway.yaml', ['admin']),
    probes: locate('gateway.yaml', ['probes']),
    dataDir: locate('gateway.yaml', ['dataDir']),
    postgres: locate('gateway.yaml', ['postgres', 'url']),
    redis: locate('gateway.yaml', ['redis', 'url']),
  }
  if (config === null) return { config, snapshot: null, problems, places }
  const certificate = await certificateProblems(config, locate)
  if (certificate.length > 0)
    return { config: null, snapshot: null, problems: [...problems, ...certificate], places }
  const snapshot = compile(config)
  const all = [...problems, ...warningsOf(snapshot, locate)]
  return { config, snapshot, problems: unacknowledged(all, config.gateway.acknowledge), places }
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
