import type { Kind } from '../schema.ts'

/** accounts.db: who owns endpoints, and their keys. */
export const accountsFile: Kind = {
  name: 'accounts.db',
  applicationId: 0x54476163, // "TGac"
  version: 11,
  tables: `
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
    token_hash BLOB NOT NULL UNIQUE,
    external_id TEXT,
    email TEXT,
    labels TEXT, -- a JSON object
    purged_at INTEGER
  ) STRICT;
  CREATE INDEX account_by_plan ON account (plan);
  CREATE INDEX account_by_name ON account (name);
  CREATE UNIQUE INDEX account_by_external_id ON account (external_id) WHERE external_id IS NOT NULL;

  -- Times in Unix seconds.
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
    expires_at INTEGER,
    used_at INTEGER, -- whole hours
    daily_limit INTEGER, -- request units in a day (UTC)
    limited_since INTEGER NOT NULL DEFAULT 0,
    labels TEXT, -- a JSON object; NULL if it never had a label
    -- A deleted endpoint keeps its name, and nothing of its key.
    CHECK ((status = 'deleted') = (key_hash IS NULL) AND (status = 'deleted') = (sealed_key IS NULL))
  ) STRICT;
  CREATE INDEX endpoint_of_account ON endpoint (account_id, seq) WHERE status <> 'deleted';
  CREATE INDEX endpoint_on_network ON endpoint (network) WHERE status <> 'deleted';

  -- Keys that were rotated and stay valid until a time in Unix seconds.
  CREATE TABLE old_key (
    key_hash BLOB PRIMARY KEY,
    endpoint_id TEXT NOT NULL REFERENCES endpoint (id),
    sealed_key BLOB NOT NULL,
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX old_key_of_endpoint ON old_key (endpoint_id, until);
  CREATE INDEX old_key_by_end ON old_key (until);

  -- Sessions of the dashboard. Times in Unix milliseconds.
  CREATE TABLE session (
    id_hash BLOB PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id),
    token_hash BLOB NOT NULL,
    endpoint_id TEXT,
    opened_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX session_of_account ON session (account_id, used_at);
  CREATE INDEX session_by_use ON session (used_at);

  -- Number of changes to accounts and endpoints. PRAGMA data_version would count sessions too.
  CREATE TABLE change (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    count INTEGER NOT NULL
  ) STRICT;
  INSERT INTO change VALUES (1, 0);

  -- Times in Unix seconds.
  CREATE TABLE audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    account_id TEXT,
    before TEXT, -- JSON objects
    after TEXT
  ) STRICT;
  CREATE INDEX audit_by_time ON audit (at);
  CREATE INDEX audit_of_account ON audit (account_id, seq);
  CREATE INDEX audit_of_target ON audit (target, seq);
  CREATE INDEX audit_by_actor ON audit (actor, seq);

  -- Tokens of the admin API.
  CREATE TABLE token (
    id TEXT PRIMARY KEY,
    name TEXT,
    scopes TEXT NOT NULL, -- a JSON array
    hash BLOB NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER
  ) STRICT, WITHOUT ROWID;

  -- Requests with an Idempotency-Key, and their sealed results.
  CREATE TABLE once (
    key_hash BLOB PRIMARY KEY,
    request_hash BLOB NOT NULL,
    sealed_result BLOB NOT NULL,
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX once_by_time ON once (at);

  -- While one master key replaces another: each sealed by the other.
  CREATE TABLE rotation (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    new_by_old BLOB NOT NULL,
    old_by_new BLOB NOT NULL
  ) STRICT;

  -- Keys derived from master keys before a rotation, sealed, and valid until a time in Unix seconds.
  CREATE TABLE earlier_key (
    seq INTEGER PRIMARY KEY,
    purpose TEXT NOT NULL,
    sealed BLOB NOT NULL,
    until INTEGER NOT NULL
  ) STRICT;

  -- Webhooks of accounts, and the messages that they and the operator's are still to receive. Times in Unix seconds.
  CREATE TABLE webhook (
    account_id TEXT PRIMARY KEY REFERENCES account (id),
    url TEXT NOT NULL,
    sealed_secret BLOB NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE delivery (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    target TEXT NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    rank INTEGER NOT NULL DEFAULT 1, -- 0 is urgent
    account_id TEXT -- the account that the message is about
  ) STRICT;
  CREATE INDEX delivery_due ON delivery (target, rank, next_at, seq);
  CREATE INDEX delivery_about ON delivery (account_id) WHERE target = 'operator' AND rank = 1;

  -- For each webhook with messages: how many wait, and when the next may be sent. Times in Unix milliseconds.
  CREATE TABLE receiver (
    target TEXT PRIMARY KEY,
    lane TEXT NOT NULL CHECK (lane IN ('operator', 'accounts', 'suspects')),
    waiting INTEGER NOT NULL,
    failures INTEGER NOT NULL, -- in a row
    not_before INTEGER NOT NULL,
    due_at INTEGER -- null if no message waits
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX receiver_due ON receiver (lane, due_at);

  -- How many messages wait for the webhooks of accounts.
  CREATE TABLE queue (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    waiting INTEGER NOT NULL
  ) STRICT;
  INSERT INTO queue VALUES (1, 0);
  CREATE TRIGGER delivery_added AFTER INSERT ON delivery BEGIN
    UPDATE receiver SET waiting = waiting + 1 WHERE target = new.target;
    UPDATE queue SET waiting = waiting + 1 WHERE new.target <> 'operator';
  END;
  CREATE TRIGGER delivery_removed AFTER DELETE ON delivery BEGIN
    UPDATE receiver SET waiting = waiting - 1 WHERE target = old.target;
    UPDATE queue SET waiting = waiting - 1 WHERE old.target <> 'operator';
  END;

  -- Alerts that were raised, so that each is sent once.
  CREATE TABLE raised (
    name TEXT PRIMARY KEY,
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX raised_by_time ON raised (at);

  -- The last entry of the audit trail that was turned into events.
  CREATE TABLE trail (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    seq INTEGER NOT NULL
  ) STRICT;
  INSERT INTO trail VALUES (1, 0);

  -- If this file is a copy of PostgreSQL: of which change, and the id of the write that made it. No row in the only copy of accounts.
  CREATE TABLE replica (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    change INTEGER NOT NULL,
    write TEXT NOT NULL,
    pull INTEGER NOT NULL, -- how many have begun
    pulled_at INTEGER NOT NULL -- Unix milliseconds
  ) STRICT;
  `,
}
