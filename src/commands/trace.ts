/** `tollgate trace`: what one customer's calls do, as they come. */
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { escapeLine } from '../config/words/printable.ts'
import { duration } from '../config/words/units.ts'
import type { CallLine } from '../observe/call-line.ts'
import { SILENT } from '../http/admin/find-gateway.ts'
import { withAccounts } from './accounts/accounts.ts'
import { ownerOf } from './accounts/owner.ts'
import type { Owner } from './accounts/owner.ts'
import { fail, readArguments, UsageError } from './command.ts'
import type { Command, Io } from './command.ts'
import { signalled } from './signal.ts'

const OPTIONS = { for: 'string' } as const
const USUAL = '10m'
const LONGEST = 86_400_000

export const trace: Command = {
  options: OPTIONS,
  usage: `tollgate trace <endpoint | account | key> [--for 10m] [--config DIR] [--json]

Prints every call of an endpoint or an account as it ends, each attempt at a route, and each refusal, until the time is
over or Ctrl-C. The running gateway is asked for them; nothing is written into its log, and nothing else slows down.
A key stands for its endpoint and is not printed. --json prints the lines as the access log has them.`,

  async run(args, io) {
    const { config, json, words, given } = readArguments(args, ['what'], OPTIONS)
    const time = duration(String(given['for'] ?? USUAL))
    if (time === null || time === 0 || time > LONGEST)
      throw new UsageError('--for must be a time such as 10m, at most 24h')
    const found = await withAccounts(
      { config, json },
      io,
      async (store, known) => {
        const { onData, onConfig, silent } = await known.around()
        const admin = (onData ?? onConfig)?.admin ?? null
        return { owner: await ownerOf(words[0]!, store), admin, silent }
      },
      { reads: true },
    )
    if (found.owner === null) return fail(io, json, 'there is no such endpoint, account or key')
    if (found.admin === null) {
      const why = found.silent === null ? 'no gateway runs here' : SILENT
      return fail(io, json, `${why}, so there are no calls to trace`)
    }
    return watch(found.owner, found.admin, time, json, io)
  },
}

async function watch(
  { account, endpoint }: Owner,
  admin: string,
  time: number,
  json: boolean,
  io: Io,
): Promise<number> {
  const target = endpoint === null ? { account: account.accountId } : { endpoint: endpoint.endpointId }
  const stop = new AbortController()
  const begin = performance.now()
  void signalled().then(() => {
    stop.abort()
  })
  io.err(`tollgate: tracing ${nameOf(account, endpoint)} for ${Math.round(time / 1000)} s; Ctrl-C ends it`)
  try {
    const response = await fetch(`http://${admin}/trace`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...target, seconds: time / 1000 }),
      signal: stop.signal,
    })
    if (!response.ok || response.body === null)
      return fail(io, json, `the running gateway answered ${response.status}: ${await response.text()}`)
    const lines = createInterface({ input: Readable.fromWeb(response.body) })
    for await (const line of lines) {
      if (line === '') continue
      io.out(json ? line : escapeLine(sentenceOf(JSON.parse(line) as CallLine | Dropped)))
      if (!(await io.drained())) return 0
    }
  } catch {
    if (stop.signal.aborted) return 0
    return fail(io, json, 'the gateway has ended or cannot be reached any more')
  }
  // It ends the trace when its time is over, or when it drains.
  return performance.now() - begin >= time ? 0 : fail(io, json, 'the gateway is being stopped')
}

function nameOf(account: Owner['account'], endpoint: Owner['endpoint']): string {
  const whose = `account ${account.accountId} (${account.name})`
  return endpoint === null ? whose : `endpoint ${endpoint.endpointId} (${endpoint.name}) of ${whose}`
}

/** Lines that were more than the gateway keeps for this command. */
interface Dropped {
  readonly msg: 'dropped'
  readonly count: number
}

function sentenceOf(line: CallLine | Dropped): string {
  if (line.msg === 'dropped') return `${line.count} more lines were dropped`
  const { time, msg, requestId, network, method, route, status, reason, outcome, result, ms } = line
  const how = [status, outcome, reason, result].filter(word => word !== null && word !== undefined)
  const parts = [time.slice(11, 23), msg.padEnd(7), method ?? '-', network, ...how]
  return [...parts, route ?? '-', ms === undefined ? '' : `${ms} ms`, requestId]
    .filter(word => word !== '')
    .join('  ')
}
