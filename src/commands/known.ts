/** What a command knows of the configuration, also while the YAML has errors: who manages accounts needs little of it. */
import { resolve } from 'node:path'
import { whyNoAccounts } from '../stores/sqlite/accounts/present.ts'
import { lacksVariable, variablesIn } from '../config/yaml/substitute.ts'
import { readTexts } from '../config/read.ts'
import { ConfigError } from '../config/config-error.ts'
import { DEFAULTS } from '../config/build/gateway.ts'
import { findWhereabouts } from '../config/data-dir.ts'
import { listenAddress } from '../config/words/units.ts'
import { loadSnapshot } from '../snapshot/load-snapshot.ts'
import { gatewaysAround, SILENT, whyLost } from '../http/admin/find-gateway.ts'
import { findRunning } from '../http/admin/running.ts'
import { readServed, servedOf } from '../http/admin/served.ts'
import type { Served, ServedPlan } from '../http/admin/served.ts'
import type { Problem } from '../config/problem.ts'
import type { Snapshot } from '../snapshot/types.ts'
import type { Arguments, Io } from './command.ts'
import { typed } from './output/called-as.ts'
import { unset, useDataDir } from './data-dir.ts'
import type { DataDirOptions, Grounds } from './data-dir.ts'
import { unknown } from './unknown.ts'

/** What is known, and what can be found out. The YAML is read, and a gateway looked for, when that is asked for first. */
export interface Known extends Grounds {
  /** What the YAML compiles to; null while it has errors. */
  snapshot(): Promise<Snapshot | null>
  /**
   * What is served: by the gateway that runs on the data directory, whatever the YAML has become since, or where none does by the YAML.
   * Throws its problems where neither says.
   */
  served(): Promise<Served>
  /** The same; null, and a line on stderr, where neither says. */
  servedIfKnown(): Promise<Served | null>
  /** The limits of a plan; as a sentence why they are not known. */
  limits(plan: string): Promise<ServedPlan | string>
  /** Why the YAML does not compile in this shell. */
  fault(): Promise<string>
  /** Variables that the YAML needs and this shell lacks; none where it has other errors too. */
  missing(): Promise<readonly string[]>
  /** Why a name is none of those `offered`: an edit has it that the running gateway has not taken, or it is a slip. */
  whyNot(what: 'network' | 'plan', name: string, offered: readonly string[]): Promise<string>
}

type Args = Pick<Arguments, 'config' | 'json'>

/** What is known of the configuration in `config`. Throws its problems when nothing says where its data is. */
export async function know({ config }: Pick<Args, 'config'>, io: Io): Promise<Known> {
  const { variesByEnv, ...gateway } = await settingsOf(config, io)
  const load = once(() => loadSnapshot(config, io.env))
  const missing = once(async () => missingFrom(config, (await load()).problems))
  const fault = async (): Promise<string> => {
    const names = await missing()
    return names.length > 0
      ? `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} not set`
      : `the YAML has errors ("${typed(io, ['check'], config)}" lists them)`
  }
  const around = once(() => gatewaysAround(config, gateway))
  const find = once(async () => {
    const { onData, onConfig } = await around()
    const { snapshot } = await load()
    const running = onData ?? (snapshot === null ? onConfig : null)
    const served = running === null ? null : await askServed(running.admin)
    if (snapshot === null && served !== null)
      io.err(`tollgate: warning: ${await fault()}; the running gateway says what is served`)
    return served ?? (snapshot === null ? null : servedOf(snapshot))
  })
  return {
    gateway,
    variesByEnv,
    around,
    snapshot: async () => (await load()).snapshot,
    servedIfKnown: async () => {
      const served = await find()
      if (served !== null) return served
      const why = (await around()).silent === null ? 'no gateway runs on it' : SILENT
      io.err(`tollgate: warning: ${await fault()} and ${why}: networks and URLs are not known`)
      return served
    },
    served: async () => {
      const served = await find()
      if (served === null) throw new ConfigError((await load()).problems)
      return served
    },
    limits: async plan => {
      const served = await find()
      if (served === null) return fault()
      return Object.hasOwn(served.plans, plan) ? served.plans[plan]! : `there is no plan "${plan}"`
    },
    fault,
    missing,
    whyNot: async (what, name, offered) => {
      const { snapshot } = await load()
      const written = snapshot === null ? {} : what === 'plan' ? snapshot.plans : snapshot.networks
      return Object.hasOwn(written, name)
        ? `${NOT_YET[what](name)} yet; see ${typed(io, ['reload'], config)}`
        : unknown(what, name, offered)
    },
  }
}

/** That the YAML has a name which the running gateway does not. */
const NOT_YET = {
  network: (slug: string) => `the running gateway does not serve "${slug}"`,
  plan: (name: string) => `the running gateway does not have the plan "${name}"`,
} as const

/** The same for a command that works on the data directory, which has to have accounts in it unless `init` is given. */
export async function knowData(args: Args, io: Io, options: DataDirOptions = {}): Promise<Known> {
  const known = await know(args, io)
  const lost = whyLost((await known.around()).onData)
  if (lost !== null) throw new Error(lost)
  // Where there is nothing to manage yet, or nothing any more, what is wrong with the configuration comes first.
  const isNew = whyNoAccounts(known.gateway.dataDir) !== null
  if (isNew) await refuseBroken(args.config, io)
  const making = isNew ? await firstAccount(args, known, io) : undefined
  const { isOfAccounts = false, init = isOfAccounts && known.gateway.postgres !== null } = options
  await useDataDir(args, known, io, { ...(making === undefined ? {} : { making }), ...options, init })
  return known
}

/** A command that makes an account, and with it the data directory. */
async function firstAccount({ config }: Args, known: Known, io: Io): Promise<string | undefined> {
  const plan = Object.keys((await known.snapshot())?.plans ?? {}).find(name => name !== 'public')
  if (plan === undefined) return undefined
  return typed(io, ['account', 'create', 'acme', '--plan', plan, '--init'], config)
}

/** From gateway.yaml alone; where it does not say, the gateway that serves this very directory does, or the environment. */
async function settingsOf(dir: string, io: Io): Promise<Grounds['gateway'] & Pick<Grounds, 'variesByEnv'>> {
  const { env } = io
  const found = await findWhereabouts(dir, env)
  const admin = found.admin ??
    listenAddress(env['TOLLGATE_ADMIN'] ?? DEFAULTS.admin) ?? { host: '127.0.0.1', port: 0 }
  const { postgres } = found
  // Without it a command would make accounts that no gateway knows.
  if (postgres === 'wrong') {
    await refuseBroken(dir, io)
    throw new Error('gateway.yaml does not say where PostgreSQL is')
  }
  if (found.dataDir !== null)
    return { dataDir: found.dataDir, admin, postgres, variesByEnv: found.variesByEnv }
  const dataDir = (await findRunning(dir, { admin }))?.dataDir ?? env['TOLLGATE_DATA']
  if (dataDir !== undefined && dataDir !== '')
    return { dataDir: resolve(dir, dataDir), admin, postgres, variesByEnv: true }
  await refuseBroken(dir, io, unset(io))
  throw new Error('gateway.yaml does not say where the data directory is')
}

/** The names, where nothing else is wrong. */
async function missingFrom(dir: string, problems: readonly Problem[]): Promise<readonly string[]> {
  const errors = problems.filter(({ severity }) => severity === 'error').map(({ message }) => message)
  if (errors.length === 0) return []
  const { texts } = await readTexts(dir)
  const named = new Set(Object.values(texts).flatMap(variablesIn))
  const missing = [...named].filter(name => errors.includes(lacksVariable(name)))
  const accounted = new Set(missing.map(lacksVariable))
  return errors.every(message => accounted.has(message)) ? missing : []
}

async function refuseBroken(dir: string, { env }: Io, advice = ''): Promise<void> {
  const { snapshot, problems } = await loadSnapshot(dir, env)
  if (snapshot === null) throw new ConfigError(problems, advice)
}

/** Milliseconds that a gateway gets to answer. */
const PATIENCE = 2_000

async function askServed(admin: string): Promise<Served | null> {
  try {
    const signal = AbortSignal.timeout(PATIENCE)
    const response = await fetch(`http://${admin}/served`, { signal })
    return readServed(await response.json())
  } catch {
    return null // nobody listens there any more, or somebody else
  }
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => (result ??= work())
}
