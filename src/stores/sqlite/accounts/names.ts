/** How accounts and endpoints are called, deleted ones too, for who reads bills from outside: needs no master key. */
import { join } from 'node:path'
import { DatabaseSync } from '../driver.ts'
import { explainFailure } from '../error.ts'
import { PATIENCE } from '../patience.ts'
import { isOurs } from '../schema.ts'
import { accountsFile } from './schema.ts'

/** An account, as a bill names it. */
export interface NamedAccount {
  readonly id: string
  readonly name: string
  readonly plan: string
  /** Unix seconds. */
  readonly createdAt: number
  readonly externalId: string | null
  readonly labels: Readonly<Record<string, string>>
}

/** All of them by their ids; the names of endpoints by theirs. */
export interface Names {
  readonly accounts: ReadonlyMap<string, NamedAccount>
  readonly endpoints: ReadonlyMap<string, string>
}

const ACCOUNTS = `SELECT id, name, plan, created_at AS createdAt, external_id AS externalId, labels FROM account`

/** Reads accounts.db of a data directory. A failure is one sentence. */
export function readNames(dataDir: string): Names {
  const file = join(dataDir, accountsFile.name)
  let database: InstanceType<typeof DatabaseSync> | undefined
  try {
    database = new DatabaseSync(file, { readOnly: true, timeout: PATIENCE })
    if (!isOurs(database, accountsFile)) throw new Error(`${file} is a database of another program`)
    type Row = Omit<NamedAccount, 'labels'> & { readonly labels: string | null }
    const accounts = (database.prepare(ACCOUNTS).all() as unknown as readonly Row[]).map(
      ({ labels, ...account }): NamedAccount => ({
        ...account,
        labels: labels === null ? {} : (JSON.parse(labels) as NamedAccount['labels']),
      }),
    )
    const endpoints = database.prepare('SELECT id, name FROM endpoint').all() as unknown as readonly {
      readonly id: string
      readonly name: string
    }[]
    return {
      accounts: new Map(accounts.map(account => [account.id, account])),
      endpoints: new Map(endpoints.map(({ id, name }) => [id, name])),
    }
  } catch (error) {
    throw explainFailure(file, error)
  } finally {
    database?.close()
  }
}
