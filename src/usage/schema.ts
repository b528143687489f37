/** The tables of journal.db. `PRAGMA user_version` holds how many of these steps a file has taken. */
export const steps: readonly string[] = [
  `CREATE TABLE journal (seq INTEGER PRIMARY KEY, entries TEXT NOT NULL);
   CREATE TABLE usage (
     endpoint TEXT NOT NULL, hour INTEGER NOT NULL, method TEXT NOT NULL,
     account TEXT NOT NULL, network TEXT NOT NULL,
     calls INTEGER NOT NULL, requests INTEGER NOT NULL, errors INTEGER NOT NULL, refusals INTEGER NOT NULL,
     bytes_out INTEGER NOT NULL, upstream_ms INTEGER NOT NULL,
     PRIMARY KEY (endpoint, hour, method)
   ) WITHOUT ROWID;
   CREATE INDEX usage_by_account ON usage (account, hour);
   CREATE TABLE totals (
     endpoint TEXT NOT NULL PRIMARY KEY, account TEXT NOT NULL, calls INTEGER NOT NULL, requests INTEGER NOT NULL
   ) WITHOUT ROWID;
   CREATE INDEX totals_by_account ON totals (account);
   CREATE TABLE windows (
     account TEXT NOT NULL, start INTEGER NOT NULL, requests INTEGER NOT NULL,
     PRIMARY KEY (account, start)
   ) WITHOUT ROWID;`,
]
