/** `tollgate top`: who or what used most. */
import { duration } from '../config/words/units.ts'
import { readNames } from '../stores/sqlite/accounts/names.ts'
import { openReaderOf } from './usage/reader.ts'
import { billLines } from './usage/bill.ts'
import type { BillLine } from './usage/bill.ts'
import { stepAt } from './usage/period.ts'
import { print, readArguments, UsageError } from './command.ts'
import type { Command } from './command.ts'
import { knowData } from './known.ts'
import { table } from './output/table.ts'

const BY = ['account', 'endpoint', 'network', 'method'] as const
const OPTIONS = { by: BY, for: 'string', limit: 'string', account: 'string' } as const
const USUAL = { for: '24h', limit: '20' }
const MOST = 10_000

export const top: Command = {
  options: OPTIONS,
  usage: `tollgate top [--by account|endpoint|network|method] [--for 24h] [--limit 20] [--account ID] [--config DIR] [--json]

Lists who or what used most, by request units, over the hours of --for up to now: accounts by default. --account looks at one
account alone.`,

  async run(args, io) {
    const parsed = readArguments(args, [], OPTIONS)
    const { given, json } = parsed
    const by = BY.find(each => each === given['by']) ?? 'account'
    const time = duration(String(given['for'] ?? USUAL.for))
    if (time === null || time === 0) throw new UsageError('--for must be a time such as 24h')
    const limit = Number(given['limit'] ?? USUAL.limit)
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
      throw new UsageError(`--limit must be a whole number from 1 to ${MOST}`)
    const known = await knowData(parsed, io, { reads: true })
    const { dataDir } = known.gateway
    const now = Math.floor(Date.now() / 1000)
    const span = { from: stepAt(Math.max(0, now - time / 1000), 'hour'), to: now + 1 }
    const account = typeof given['account'] === 'string' ? given['account'] : undefined
    const reader = await openReaderOf(known, io, {
      accountId: account ?? null,
      rows: { ...span, step: 86_400, detail: false },
      windows: null,
    })
    try {
      const lines = billLines(reader, readNames(dataDir), span, by === 'account' ? null : by, account)
      const found = largest(lines, by).slice(0, limit)
      const rows = found.map(({ what, name, calls, requests, errors, refusals }) => [
        what,
        name ?? '-',
        calls,
        requests,
        errors,
        refusals,
      ])
      print(io, json, found, () =>
        found.length === 0
          ? ['no usage in this period']
          : table([by.toUpperCase(), 'NAME', 'CALLS', 'REQUEST UNITS', 'ERRORS', 'REFUSALS'], rows),
      )
    } finally {
      reader.close()
    }
    return 0
  },
}

interface Sum extends Pick<BillLine, 'calls' | 'requests' | 'errors' | 'refusals'> {
  readonly what: string
  readonly name: string | null
}

/** Over all plans, and of networks and methods over all accounts. */
function largest(lines: Iterable<BillLine>, by: (typeof BY)[number]): Sum[] {
  const sums = new Map<string, Sum>()
  for (const line of lines) {
    const what =
      { account: line.accountId, endpoint: line.endpointId, network: line.network, method: line.method }[
        by
      ] ?? ''
    const name = by === 'account' ? line.name : by === 'endpoint' ? (line.endpointName ?? null) : null
    const known = sums.get(what) ?? { what, name, calls: 0, requests: 0, errors: 0, refusals: 0 }
    const { calls, requests, errors, refusals } = line
    sums.set(what, {
      what,
      name,
      calls: known.calls + calls,
      requests: known.requests + requests,
      errors: known.errors + errors,
      refusals: known.refusals + refusals,
    })
  }
  return [...sums.values()].sort(
    (a, b) => b.requests - a.requests || b.calls - a.calls || b.refusals - a.refusals,
  )
}
