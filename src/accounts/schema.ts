import type { DatabaseSyncInstance } from '@photostructure/sqlite'

/** Marks the file as ours (`PRAGMA application_id`): "TGac". */
const APPLICATION_ID = 0x54476163

/** One step a version: version n is what the first n make. Steps are added, never edited. */
const MIGRATIONS = [
  `
  CREATE TABLE canary (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    sealed BLOB NOT NULL
  ) STRICT;

  CREATE TABLE account (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    plan TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'suspended')),
    created_at INTEGER NOT NULL,
    token_hash BLOB NOT NULL UNIQUE
  ) STRICT;
  CREATE INDEX account_by_plan ON account (plan);

  CREATE TABLE endpoint (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    account_id TEXT NOT NULL REFERENCES account (id),
    network TEXT NOT NULL,
    name TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'inactive', 'deleted')),
    created_at INTEGER NOT NULL,
    management INTEGER NOT NULL,
    allowed_origins TEXT, -- JSON arrays
    allowed_ips TEXT,
    per_second REAL,
    key_hash BLOB UNIQUE,
    sealed_key BLOB,
    -- A deleted endpoint keeps its name, and nothing of its key.
    CHECK ((status = 'deleted') = (key_hash IS NULL) AND (status = 'deleted') = (sealed_key IS NULL))
  ) STRICT;
  CREATE INDEX endpoint_of_account ON endpoint (account_id, seq) WHERE status <> 'deleted';
  `,
]

/** Whether the file is ours or still empty; read before anything is written to it. */
export function isOurs(database: DatabaseSyncInstance): boolean {
  // In this order: tables and application id appear in one commit.
  const { tables } = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() as {
    tables: number
  }
  return tables === 0 || pragma(database, 'application_id') === APPLICATION_ID
}

/** Brings the schema up to date. Runs in a write transaction. */
export function migrate(database: DatabaseSyncInstance): void {
  const version = pragma(database, 'user_version')
  if (version > MIGRATIONS.length) {
    throw new Error(
      `accounts.db was written by a newer Tollgate (schema ${version}, here ${MIGRATIONS.length})`,
    )
  }
  if (version === MIGRATIONS.length) return
  for (const step of MIGRATIONS.slice(version)) database.exec(step)
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}`)
}

function pragma(database: DatabaseSyncInstance, name: 'application_id' | 'user_version'): number {
  return (database.prepare(`PRAGMA ${name}`).get() as Record<typeof name, number>)[name]
}
