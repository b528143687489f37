import { run, runJson } from './cli.ts'
import type { Gateway } from './gateway.ts'
import { get } from './http.ts'
import type { UsageRow } from './metered.ts'

/** Reads what `tollgate usage` prints: rows as `--json` gives them, from the CSV and from the table too. */
export async function printedUsage(gateway: Gateway): Promise<Record<'json' | 'csv' | 'table', UsageRow[]>> {
  const [json, csv, table] = await Promise.all([
    runJson(gateway.dir, ['usage', '--by', 'hour']),
    run(['usage', '--by', 'hour', '--csv', '--config', gateway.dir]),
    run(['usage', '--by', 'hour', '--config', gateway.dir]),
  ])
  const lines = (text: string, separator: RegExp | string) => {
    const [head, ...rows] = text.trim().split('\n')
    return { names: head!.split(separator), rows: rows.map(row => row.trim().split(separator)) }
  }
  const ofCsv = lines(csv.stdout, ',')
  // Columns stand two spaces apart; a time holds one.
  const ofTable = lines(table.stdout, / {2,}/)
  const columns = [
    'time',
    'accountId',
    'endpointId',
    'network',
    'method',
    'calls',
    'requests',
    'errors',
    'refusals',
  ]
  const row = (cells: readonly string[]) =>
    Object.fromEntries(columns.map((name, i) => [name, i < 5 ? cells[i] : Number(cells[i])])) as unknown
  return {
    json,
    csv: ofCsv.rows.map(cells => row(cells) as UsageRow),
    table: ofTable.rows.map(cells => row(cells) as UsageRow),
  }
}

/** One series of a scrape. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** All series of one metric. */
export async function samples(gateway: Gateway, name: string): Promise<Sample[]> {
  const { text } = await get(`${gateway.adminUrl}/metrics`)
  return [...text.matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, 'gm'))].map(([, series = '', value]) => ({
    labels: Object.fromEntries(
      [...series.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, text]) => [label!, text!]),
    ),
    value: Number(value),
  }))
}
