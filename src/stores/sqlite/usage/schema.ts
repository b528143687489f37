import type { Kind } from '../schema.ts'
import { LATENCY_SUMS, PLAIN_SUMS } from './columns.ts'
import { changedAndBase, TRACKED } from './reports/tracked.ts'

/**
 * journal.db: the journal, and the ledger behind it. The views ending in `_now` add what the journal holds to what the ledger does, so a reader
 * in any process sees every committed charge.
 */
export const journalFile: Kind = {
  name: 'journal.db',
  applicationId: 0x54476a6c, // "TGjl"
  steps: [
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
   ) WITHOUT ROWID;
   CREATE VIEW charges AS SELECT e.value ->> 0 AS account, e.value ->> 1 AS endpoint, e.value ->> 2 AS network,
     e.value ->> 3 AS method, e.value ->> 4 AS hour, e.value ->> 5 AS window,
     e.value ->> 6 AS calls, e.value ->> 7 AS requests FROM journal, json_each(journal.entries) AS e;
   CREATE VIEW usage_now AS
     SELECT account, endpoint, network, method, hour, calls, requests, errors, refusals FROM usage
     UNION ALL SELECT account, endpoint, network, method, hour, calls, requests, 0, 0 FROM charges;
   CREATE VIEW totals_now AS SELECT account, endpoint, calls, requests FROM totals
     UNION ALL SELECT account, endpoint, calls, requests FROM charges;
   CREATE VIEW windows_now AS SELECT account, start, requests FROM windows
     UNION ALL SELECT account, window, requests FROM charges;`,
    // Why calls were refused; and what finds the hours that are to be rolled up to days.
    `CREATE TABLE refusals (
     endpoint TEXT NOT NULL, hour INTEGER NOT NULL, method TEXT NOT NULL, reason TEXT NOT NULL,
     account TEXT NOT NULL, network TEXT NOT NULL, count INTEGER NOT NULL,
     PRIMARY KEY (endpoint, hour, method, reason)
   ) WITHOUT ROWID;
   CREATE INDEX refusals_by_account ON refusals (account, hour);
   CREATE INDEX usage_by_hour ON usage (hour) WHERE hour % 86400 <> 0;
   CREATE INDEX refusals_by_hour ON refusals (hour) WHERE hour % 86400 <> 0;
   DROP VIEW usage_now;
   CREATE VIEW usage_now AS
     SELECT account, endpoint, network, method, hour, calls, requests, errors, refusals, bytes_out, upstream_ms FROM usage
     UNION ALL SELECT account, endpoint, network, method, hour, calls, requests, 0, 0, 0, 0 FROM charges;`,
    // Records that name a counter once (commit-batch.ts). What a killed process has left of the old kind becomes one of them; the views read by name.
    `INSERT INTO journal (entries)
     SELECT json_group_array(json_array(number, calls, requests, account, endpoint, network, method, hour, window))
     FROM (SELECT *, row_number() OVER () AS number FROM charges) HAVING count(*) > 0;
   DELETE FROM journal WHERE seq < (SELECT max(seq) FROM journal);
   DROP VIEW charges;
   CREATE VIEW charges AS SELECT
     max(e.value ->> 3) AS account, max(e.value ->> 4) AS endpoint, max(e.value ->> 5) AS network, max(e.value ->> 6) AS method,
     max(e.value ->> 7) AS hour, max(e.value ->> 8) AS window, sum(e.value ->> 1) AS calls, sum(e.value ->> 2) AS requests
     FROM journal, json_each(journal.entries) AS e GROUP BY e.value ->> 0;`,
    // Only the gateway asks what a window holds, and holds the rest of it (used-in-window.ts).
    'DROP VIEW windows_now;',
    // Whoever reads an account's usage finds its endpoints here: also those of which no call was charged. From one to the next by the key, since a
    // look at every row would take minutes.
    `INSERT INTO totals
     WITH RECURSIVE known (endpoint) AS (
       SELECT min(endpoint) FROM usage
       UNION ALL SELECT (SELECT min(endpoint) FROM usage WHERE endpoint > known.endpoint) FROM known WHERE endpoint IS NOT NULL
     )
     SELECT endpoint, (SELECT account FROM usage WHERE usage.endpoint = known.endpoint LIMIT 1), 0, 0
     FROM known WHERE endpoint IS NOT NULL
     ON CONFLICT DO NOTHING;`,
    // Up to which place the journal's charges are in the tables: counters are folded a few at a time, and their records leave the journal later.
    `CREATE TABLE folded (place INTEGER NOT NULL);
   INSERT INTO folded VALUES (0);
   DROP VIEW charges;
   CREATE VIEW charges AS SELECT e.value ->> 0 AS place,
     max(e.value ->> 3) AS account, max(e.value ->> 4) AS endpoint, max(e.value ->> 5) AS network, max(e.value ->> 6) AS method,
     max(e.value ->> 7) AS hour, max(e.value ->> 8) AS window, sum(e.value ->> 1) AS calls, sum(e.value ->> 2) AS requests
     FROM journal, json_each(journal.entries) AS e
     WHERE e.value ->> 0 > (SELECT place FROM folded) GROUP BY e.value ->> 0;`,
    // An endpoint that moves to another network has rows of both within an hour, and within the day that its hours become.
    `DROP VIEW usage_now;
   ALTER TABLE usage RENAME TO usage_before;
   CREATE TABLE usage (
     endpoint TEXT NOT NULL, hour INTEGER NOT NULL, method TEXT NOT NULL,
     account TEXT NOT NULL, network TEXT NOT NULL,
     calls INTEGER NOT NULL, requests INTEGER NOT NULL, errors INTEGER NOT NULL, refusals INTEGER NOT NULL,
     bytes_out INTEGER NOT NULL, upstream_ms INTEGER NOT NULL,
     PRIMARY KEY (endpoint, hour, method, network)
   ) WITHOUT ROWID;
   INSERT INTO usage SELECT * FROM usage_before;
   DROP TABLE usage_before;
   CREATE INDEX usage_by_account ON usage (account, hour);
   CREATE INDEX usage_by_hour ON usage (hour) WHERE hour % 86400 <> 0;
   ALTER TABLE refusals RENAME TO refusals_before;
   CREATE TABLE refusals (
     endpoint TEXT NOT NULL, hour INTEGER NOT NULL, method TEXT NOT NULL, reason TEXT NOT NULL,
     account TEXT NOT NULL, network TEXT NOT NULL, count INTEGER NOT NULL,
     PRIMARY KEY (endpoint, hour, method, network, reason)
   ) WITHOUT ROWID;
   INSERT INTO refusals SELECT * FROM refusals_before;
   DROP TABLE refusals_before;
   CREATE INDEX refusals_by_account ON refusals (account, hour);
   CREATE INDEX refusals_by_hour ON refusals (hour) WHERE hour % 86400 <> 0;
   CREATE VIEW usage_now AS
     SELECT account, endpoint, network, method, hour, calls, requests, errors, refusals, bytes_out, upstream_ms FROM usage
     UNION ALL SELECT account, endpoint, network, method, hour, calls, requests, 0, 0, 0, 0 FROM charges;`,
    // Up to which place the tables have what the journals of other processes hold, by the names of their files.
    'CREATE TABLE taken (file TEXT NOT NULL PRIMARY KEY, place INTEGER NOT NULL) WITHOUT ROWID;',
    // A bill has a line for each plan that an account had. What was recorded before does not say which that was.
    `DROP VIEW usage_now;
   DROP VIEW totals_now;
   DROP VIEW charges;
   ALTER TABLE usage RENAME TO usage_before;
   CREATE TABLE usage (
     endpoint TEXT NOT NULL, hour INTEGER NOT NULL, method TEXT NOT NULL,
     account TEXT NOT NULL, network TEXT NOT NULL,
     calls INTEGER NOT NULL, requests INTEGER NOT NULL, errors INTEGER NOT NULL, refusals INTEGER NOT NULL,
     bytes_out INTEGER NOT NULL, upstream_ms INTEGER NOT NULL, plan TEXT NOT NULL,
     PRIMARY KEY (endpoint, hour, method, network, plan)
   ) WITHOUT ROWID;
   INSERT INTO usage SELECT *, '' FROM usage_before;
   DROP TABLE usage_before;
   CREATE INDEX usage_by_account ON usage (account, hour);
   CREATE INDEX usage_by_hour ON usage (hour) WHERE hour % 86400 <> 0;
   CREATE VIEW charges AS SELECT e.value ->> 0 AS place,
     max(e.value ->> 3) AS account, max(e.value ->> 4) AS endpoint, max(e.value ->> 5) AS network, max(e.value ->> 6) AS method,
     max(e.value ->> 7) AS hour, max(e.value ->> 8) AS window, sum(e.value ->> 1) AS calls, sum(e.value ->> 2) AS requests,
     coalesce(max(e.value ->> 9), '') AS plan
     FROM journal, json_each(journal.entries) AS e
     WHERE e.value ->> 0 > (SELECT place FROM folded) GROUP BY e.value ->> 0;
   CREATE VIEW usage_now AS
     SELECT account, endpoint, network, method, hour, calls, requests, errors, refusals, bytes_out, upstream_ms, plan FROM usage
     UNION ALL SELECT account, endpoint, network, method, hour, calls, requests, 0, 0, 0, 0, plan FROM charges;
   CREATE VIEW totals_now AS SELECT account, endpoint, calls, requests FROM totals
     UNION ALL SELECT account, endpoint, calls, requests FROM charges;
   CREATE VIEW windows_now AS SELECT account, start, requests FROM windows
     UNION ALL SELECT account, window, requests FROM charges WHERE window <> 0;`,
    // Which rows have changed since they were last sent to PostgreSQL, by the number of the report that had them; and who reports (changes.ts).
    `CREATE TABLE node (
     id TEXT NOT NULL, epoch INTEGER NOT NULL, claim TEXT, rev INTEGER NOT NULL, acked INTEGER NOT NULL, kept INTEGER NOT NULL,
     fenced INTEGER NOT NULL, since INTEGER
   );
   ${TRACKED.map(tracked => changedAndBase(tracked.table === 'usage' ? { ...tracked, sums: PLAIN_SUMS } : tracked)).join('\n   ')}`,
    // Calls by how long upstreams took; of those that were recorded before it is not known.
    `${['usage', 'base_usage'].flatMap(table => LATENCY_SUMS.map(sum => `ALTER TABLE ${table} ADD COLUMN ${sum} INTEGER NOT NULL DEFAULT 0;`)).join('\n   ')}
   DROP VIEW usage_now;
   CREATE VIEW usage_now AS
     SELECT account, endpoint, network, method, hour, calls, requests, errors, refusals, bytes_out, upstream_ms, plan, ${LATENCY_SUMS.join(', ')} FROM usage
     UNION ALL SELECT account, endpoint, network, method, hour, calls, requests, 0, 0, 0, 0, plan, ${LATENCY_SUMS.map(() => '0').join(', ')} FROM charges;`,
    // Sums of a long span read days (days.ts), which are made of the hours there are while calls are served.
    `CREATE TABLE usage_day (
     endpoint TEXT NOT NULL, hour INTEGER NOT NULL, method TEXT NOT NULL, network TEXT NOT NULL,
     ${[...PLAIN_SUMS, ...LATENCY_SUMS].map(sum => `${sum} INTEGER NOT NULL`).join(', ')},
     PRIMARY KEY (endpoint, hour, method, network)
   ) WITHOUT ROWID;
   CREATE TABLE refusals_day (
     endpoint TEXT NOT NULL, hour INTEGER NOT NULL, method TEXT NOT NULL, network TEXT NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL,
     PRIMARY KEY (endpoint, hour, method, network, reason)
   ) WITHOUT ROWID;
   CREATE TABLE day_progress (until INTEGER NOT NULL, next INTEGER NOT NULL, endpoint TEXT NOT NULL, at INTEGER NOT NULL);
   INSERT INTO day_progress VALUES (0, 0, '', 0);`,
  ],
}
