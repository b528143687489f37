import type { Kind } from '../schema.ts'
import { LATENCY_SUMS, USAGE_SUMS } from './columns.ts'
import { changedAndBase, TRACKED } from './reports/tracked.ts'

/**
 * journal.db: the journal, and the ledger behind it. The views ending in `_now` add what the journal holds to what the ledger does, so a reader
 * in any process sees every committed charge.
 */
export const journalFile: Kind = {
  name: 'journal.db',
  applicationId: 0x54476a6c, // "TGjl"
  version: 12,
  tables: `
  -- Records of charges (commit-batch.ts).
  CREATE TABLE journal (seq INTEGER PRIMARY KEY, entries TEXT NOT NULL);
  -- Up to which place the charges of the journal are in the tables: counters are folded a few at a time, and their records are deleted later.
  CREATE TABLE folded (place INTEGER NOT NULL);
  INSERT INTO folded VALUES (0);
  -- The same for the journals of other processes, by file name.
  CREATE TABLE taken (file TEXT NOT NULL PRIMARY KEY, place INTEGER NOT NULL) WITHOUT ROWID;

  CREATE TABLE usage (
    endpoint TEXT NOT NULL, hour INTEGER NOT NULL, method TEXT NOT NULL,
    account TEXT NOT NULL, network TEXT NOT NULL,
    calls INTEGER NOT NULL, requests INTEGER NOT NULL, errors INTEGER NOT NULL, refusals INTEGER NOT NULL,
    bytes_out INTEGER NOT NULL, upstream_ms INTEGER NOT NULL, plan TEXT NOT NULL,
    ${LATENCY_SUMS.map(sum => `${sum} INTEGER NOT NULL DEFAULT 0`).join(', ')},
    PRIMARY KEY (endpoint, hour, method, network, plan)
  ) WITHOUT ROWID;
  CREATE INDEX usage_by_account ON usage (account, hour);
  -- Finds the hours that are to be rolled up to days.
  CREATE INDEX usage_by_hour ON usage (hour) WHERE hour % 86400 <> 0;

  -- Why calls were refused.
  CREATE TABLE refusals (
    endpoint TEXT NOT NULL, hour INTEGER NOT NULL, method TEXT NOT NULL, reason TEXT NOT NULL,
    account TEXT NOT NULL, network TEXT NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (endpoint, hour, method, network, reason)
  ) WITHOUT ROWID;
  CREATE INDEX refusals_by_account ON refusals (account, hour);
  CREATE INDEX refusals_by_hour ON refusals (hour) WHERE hour % 86400 <> 0;

  -- Has a row for each endpoint with usage, also if no call was charged.
  CREATE TABLE totals (
    endpoint TEXT NOT NULL PRIMARY KEY, account TEXT NOT NULL, calls INTEGER NOT NULL, requests INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX totals_by_account ON totals (account);

  -- Use of quota windows. Only the gateway reads it while it runs (used-in-window.ts).
  CREATE TABLE windows (
    account TEXT NOT NULL, start INTEGER NOT NULL, requests INTEGER NOT NULL,
    PRIMARY KEY (account, start)
  ) WITHOUT ROWID;

  CREATE VIEW charges AS SELECT e.value ->> 0 AS place,
    max(e.value ->> 3) AS account, max(e.value ->> 4) AS endpoint, max(e.value ->> 5) AS network, max(e.value ->> 6) AS method,
    max(e.value ->> 7) AS hour, max(e.value ->> 8) AS window, sum(e.value ->> 1) AS calls, sum(e.value ->> 2) AS requests,
    max(e.value ->> 9) AS plan
    FROM journal, json_each(journal.entries) AS e
    WHERE e.value ->> 0 > (SELECT place FROM folded) GROUP BY e.value ->> 0;
  CREATE VIEW usage_now AS
    SELECT account, endpoint, network, method, hour, calls, requests, errors, refusals, bytes_out, upstream_ms, plan, ${LATENCY_SUMS.join(', ')} FROM usage
    UNION ALL SELECT account, endpoint, network, method, hour, calls, requests, 0, 0, 0, 0, plan, ${LATENCY_SUMS.map(() => '0').join(', ')} FROM charges;
  CREATE VIEW totals_now AS SELECT account, endpoint, calls, requests FROM totals
    UNION ALL SELECT account, endpoint, calls, requests FROM charges;
  CREATE VIEW windows_now AS SELECT account, start, requests FROM windows
    UNION ALL SELECT account, window, requests FROM charges WHERE window <> 0;

  -- Rows that have changed since they were last sent to PostgreSQL, by the number of the report that sends them; and who reports (changes.ts).
  CREATE TABLE node (
    id TEXT NOT NULL, epoch INTEGER NOT NULL, claim TEXT, rev INTEGER NOT NULL, acked INTEGER NOT NULL, kept INTEGER NOT NULL,
    fenced INTEGER NOT NULL, since INTEGER
  );
  ${TRACKED.map(changedAndBase).join('\n  ')}

  -- Sums of a long span read days (days.ts), which are made of hours while calls are served.
  CREATE TABLE usage_day (
    endpoint TEXT NOT NULL, hour INTEGER NOT NULL, method TEXT NOT NULL, network TEXT NOT NULL,
    ${USAGE_SUMS.map(sum => `${sum} INTEGER NOT NULL`).join(', ')},
    PRIMARY KEY (endpoint, hour, method, network)
  ) WITHOUT ROWID;
  CREATE TABLE refusals_day (
    endpoint TEXT NOT NULL, hour INTEGER NOT NULL, method TEXT NOT NULL, network TEXT NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (endpoint, hour, method, network, reason)
  ) WITHOUT ROWID;
  CREATE TABLE day_progress (until INTEGER NOT NULL, next INTEGER NOT NULL, endpoint TEXT NOT NULL, at INTEGER NOT NULL);
  INSERT INTO day_progress VALUES (0, 0, '', 0);`,
}
