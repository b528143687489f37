/** What can be known of a configuration that may not be valid: where its data is, and who runs on it. */
import { readFile, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { buildPostgres } from './build/fleet.ts'
import { DEFAULTS } from './build/gateway.ts'
import type { PostgresConfig } from './fleet.ts'
import type { RawGateway } from './raw-config.ts'
import { evaluate } from './yaml/evaluate.ts'
import { parseText } from './yaml/parse.ts'
import { lookupIn } from './read.ts'
import type { ListenAddress } from './types.ts'
import { duration, listenAddress } from './words/units.ts'

/** What gateway.yaml alone says; null is what cannot be read from it. */
export interface Whereabouts {
  /** Absolute. */
  readonly dataDir: string | null
  readonly admin: ListenAddress | null
  /** Where the accounts of several gateways are kept; null is in the data directory, `wrong` where that is written and cannot be read. */
  readonly postgres: PostgresConfig | null | 'wrong'
  /** Whether another environment could mean another data directory. */
  readonly variesByEnv: boolean
}

/** Has every variable, with a value that nobody gives it. */
const OTHER_ENV: Env = new Proxy({}, { get: () => '\u0000' })

type Env = Readonly<Record<string, string | undefined>>

/** What gateway.yaml says of the data directory and the admin listener, whatever is wrong with the rest of it and with other files. */
export async function findWhereabouts(dir: string, env: Env): Promise<Whereabouts> {
  const unknown = { dataDir: null, admin: null, postgres: null, variesByEnv: true }
  const text = await readText(dir)
  const source = text === null ? null : parseText('gateway.yaml', text)
  if (source === null || !('root' in source)) return unknown
  const { value, findings } = evaluate(source, lookupIn(dir, env))
  const isWrong = (key: string): boolean => findings.some(({ path }) => path[0] === key)
  const written = value as Readonly<Record<string, unknown>>
  const { dataDir, admin } = { ...DEFAULTS, ...written }
  const elsewhere = evaluate(source, { ...lookupIn(dir, env), env: OTHER_ENV }).value
  const { dataDir: other } = { ...DEFAULTS, ...(elsewhere as Readonly<Record<string, unknown>>) }
  return {
    dataDir:
      typeof dataDir === 'string' && dataDir !== '' && !isWrong('dataDir') ? resolve(dir, dataDir) : null,
    variesByEnv: other !== dataDir,
    admin: typeof admin === 'string' && !isWrong('admin') ? listenAddress(admin) : null,
    postgres: isWrong('postgres') ? 'wrong' : readPostgres(written['postgres']),
  }
}

function readPostgres(written: unknown): PostgresConfig | null | 'wrong' {
  if (written === undefined || written === null) return null
  const {
    url,
    timeout = '2s',
    accountsMaxAge = '24h',
  } = written as Partial<NonNullable<RawGateway['postgres']>>
  if (typeof url !== 'string' || url === '' || duration(timeout) === null) return 'wrong'
  if (accountsMaxAge !== 'forever' && duration(accountsMaxAge) === null) return 'wrong'
  return buildPostgres(written as RawGateway['postgres'])
}

/** The data directory that gateway.yaml says; null when the file cannot be read that far. */
export async function findDataDir(dir: string, env: Env): Promise<string | null> {
  return (await findWhereabouts(dir, env)).dataDir
}

/** Null where the file, or its folder, cannot be read; a file that is not there says nothing. */
async function readText(dir: string): Promise<string | null> {
  try {
    await readdir(dir)
    return await readFile(join(dir, 'gateway.yaml'), 'utf8')
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    return code === 'ENOENT' && syscall === 'open' ? '' : null
  }
}
