/**
 * The tables of accounts in PostgreSQL: those of accounts.db (stores/sqlite/accounts/schema.ts) with the same names and columns, and in each row by which
 * change it was written last. Rows that are gone are named in `removed`, so that a replica can follow.
 */
export const accountTables = `
  -- The row that each write locks first: it puts the writes of all gateways in one order.
  CREATE TABLE meta (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    change bigint NOT NULL,
    write uuid NOT NULL, -- of that change
    migrated uuid, -- the last write of tollgate migrate
    audit bigint NOT NULL DEFAULT 0 -- the highest place in the audit trail that was ever given
  );
  CREATE TABLE written (change bigint PRIMARY KEY, id uuid NOT NULL);
  INSERT INTO meta (change, write) VALUES (0, gen_random_uuid());
  INSERT INTO written SELECT change, write FROM meta;
  CREATE TABLE removed (tbl text NOT NULL, key text NOT NULL, change bigint NOT NULL, PRIMARY KEY (tbl, key));
  CREATE INDEX removed_by_change ON removed (change);

  CREATE TABLE canary (
    id bigint PRIMARY KEY CHECK (id = 1),
    sealed bytea NOT NULL,
    changed bigint NOT NULL
  );
  CREATE INDEX ON canary (changed);
  CREATE TABLE rotation (
    id bigint PRIMARY KEY CHECK (id = 1),
    new_by_old bytea NOT NULL,
    old_by_new bytea NOT NULL,
    changed bigint NOT NULL
  );
  CREATE INDEX ON rotation (changed);
  CREATE TABLE earlier_key (
    seq bigint PRIMARY KEY,
    purpose text NOT NULL,
    sealed bytea NOT NULL,
    until bigint NOT NULL,
    changed bigint NOT NULL
  );
  CREATE INDEX ON earlier_key (changed);

  CREATE TABLE account (
    seq bigint PRIMARY KEY,
    id text NOT NULL UNIQUE,
    name text NOT NULL,
    plan text NOT NULL,
    status text NOT NULL CHECK (status IN ('active', 'suspended')),
    created_at bigint NOT NULL,
    token_hash bytea NOT NULL UNIQUE,
    external_id text UNIQUE,
    email text,
    labels text,
    purged_at bigint,
    changed bigint NOT NULL
  );
  CREATE INDEX ON account (changed);
  CREATE TABLE endpoint (
    seq bigint PRIMARY KEY,
    id text NOT NULL UNIQUE,
    account_id text NOT NULL REFERENCES account (id),
    network text NOT NULL,
    name text NOT NULL,
    status text NOT NULL CHECK (status IN ('active', 'inactive', 'deleted')),
    created_at bigint NOT NULL,
    management bigint NOT NULL,
    allowed_origins text,
    allowed_ips text,
    per_second float8,
    key_hash bytea UNIQUE,
    sealed_key bytea,
    expires_at bigint,
    used_at bigint,
    daily_limit bigint,
    limited_since bigint NOT NULL,
    labels text,
    changed bigint NOT NULL,
    CHECK ((status = 'deleted') = (key_hash IS NULL) AND (status = 'deleted') = (sealed_key IS NULL))
  );
  CREATE INDEX ON endpoint (changed);
  CREATE INDEX ON endpoint (account_id, seq);
  CREATE TABLE old_key (
    key_hash bytea PRIMARY KEY,
    endpoint_id text NOT NULL REFERENCES endpoint (id),
    sealed_key bytea NOT NULL,
    until bigint NOT NULL,
    changed bigint NOT NULL
  );
  CREATE INDEX ON old_key (changed);

  CREATE TABLE session (
    id_hash bytea PRIMARY KEY,
    account_id text NOT NULL REFERENCES account (id),
    token_hash bytea NOT NULL,
    endpoint_id text,
    opened_at bigint NOT NULL,
    used_at bigint NOT NULL,
    changed bigint NOT NULL
  );
  CREATE INDEX ON session (changed);
  CREATE TABLE token (
    id text PRIMARY KEY,
    name text,
    scopes text NOT NULL,
    hash bytea NOT NULL UNIQUE,
    created_at bigint NOT NULL,
    expires_at bigint,
    changed bigint NOT NULL
  );
  CREATE INDEX ON token (changed);
  CREATE TABLE audit (
    seq bigint PRIMARY KEY,
    at bigint NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    target text NOT NULL,
    account_id text,
    before text,
    after text,
    changed bigint NOT NULL
  );
  CREATE INDEX ON audit (changed);
  CREATE TABLE once (
    key_hash bytea PRIMARY KEY,
    request_hash bytea NOT NULL,
    sealed_result bytea NOT NULL,
    at bigint NOT NULL,
    changed bigint NOT NULL
  );
  CREATE INDEX ON once (changed);

  CREATE TABLE webhook (
    account_id text PRIMARY KEY REFERENCES account (id),
    url text NOT NULL,
    sealed_secret bytea NOT NULL,
    changed bigint NOT NULL
  );
  CREATE INDEX ON webhook (changed);
  CREATE TABLE delivery (
    seq bigint PRIMARY KEY,
    id text NOT NULL UNIQUE,
    target text NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    attempts bigint NOT NULL,
    next_at bigint NOT NULL,
    rank bigint NOT NULL,
    account_id text,
    changed bigint NOT NULL
  );
  CREATE INDEX ON delivery (changed);
  CREATE TABLE receiver (
    target text PRIMARY KEY,
    lane text NOT NULL CHECK (lane IN ('operator', 'accounts', 'suspects')),
    waiting bigint NOT NULL,
    failures bigint NOT NULL,
    not_before bigint NOT NULL,
    due_at bigint,
    changed bigint NOT NULL
  );
  CREATE INDEX ON receiver (changed);
  CREATE TABLE queue (
    id bigint PRIMARY KEY CHECK (id = 1),
    waiting bigint NOT NULL,
    changed bigint NOT NULL
  );
  CREATE INDEX ON queue (changed);
  INSERT INTO queue VALUES (1, 0, 0);
  CREATE TABLE raised (
    name text PRIMARY KEY,
    at bigint NOT NULL,
    changed bigint NOT NULL
  );
  CREATE INDEX ON raised (changed);
  CREATE TABLE trail (
    id bigint PRIMARY KEY CHECK (id = 1),
    seq bigint NOT NULL,
    changed bigint NOT NULL
  );
  CREATE INDEX ON trail (changed);
  INSERT INTO trail VALUES (1, 0, 0);

  -- What one gateway at a time does for all, until when.
  CREATE TABLE duty (
    name text PRIMARY KEY,
    holder uuid NOT NULL,
    until timestamptz NOT NULL
  );
`
