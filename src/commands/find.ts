/** `tollgate find`: whose a key, an endpoint or a request is. */
import { findInLogs } from '../observe/find-in-log.ts'
import type { CallLine } from '../observe/call-line.ts'
import { isWellFormed } from '../stores/sqlite/accounts/secrets/keys.ts'
import { withAccounts } from './accounts/accounts.ts'
import { ownerOf } from './accounts/owner.ts'
import type { Owner } from './accounts/owner.ts'
import { askRunning, postAdmin } from './ask-running.ts'
import { fail, print, readArguments } from './command.ts'
import type { Command, Io } from './command.ts'
import type { Known } from './known.ts'
import { moment } from './output/table.ts'

/** Milliseconds that a running gateway gets to look through its access logs. */
const PATIENCE = 120_000
/** As in `X-Request-Id`. */
const REQUEST_ID = /^[\w-]{16}$/

export const find: Command = {
  usage: `tollgate find <key | endpoint | account | external id | request id> [--config DIR] [--json]

Says whose an API key, an endpoint (deleted ones too) or an external id is: the account, and the endpoint with its network
and status. A key in a customer's mail is enough; it is not printed again. Of a request id (X-Request-Id, and in each
refusal) it says the calls too: method, route, status, reason and milliseconds. The running gateway remembers the last
calls of each account that failed; others, and older ones, are found in the access log (log.access of gateway.yaml), in
rotated and compressed files too.`,

  run(args, io) {
    const { config, json, words } = readArguments(args, ['what'])
    const what = words[0]!
    return withAccounts(
      { config, json },
      io,
      async (store, known) => {
        const owner = await ownerOf(what, store)
        if (owner !== null) {
          print(io, json, owner, () => ownerLines(owner))
          return 0
        }
        const expired = store.findExpired(what)
        if (expired !== null)
          return fail(io, json, `this key of ${expired.id} expired at ${moment(expired.at)}`)
        if (!REQUEST_ID.test(what)) return fail(io, json, whyNot(what))
        const calls = await callsOf(what, known, io)
        if (calls.length === 0) return fail(io, json, NO_CALL)
        const { account, endpoint } = calls[0]!
        const found = await ownerOf(endpoint ?? account ?? '', store)
        print(io, json, { ...(found ?? { account: null, endpoint: null }), calls }, () => [
          ...(found === null ? ['account   none: the call had no key that is known'] : ownerLines(found)),
          ...calls.map(call => `call      ${sentenceOf(call)}`),
        ])
        return 0
      },
      { reads: true },
    )
  },
}

function ownerLines({ account, endpoint }: Owner): string[] {
  const { accountId, name, plan, status } = account
  const lines = [`account   ${accountId} (${name}, plan ${plan}, ${status})`]
  if (endpoint === null) return lines
  return [
    ...lines,
    `endpoint  ${endpoint.endpointId} (${endpoint.name}, on ${endpoint.network}, ${endpoint.status})`,
  ]
}

/** What the running gateway knows of a request; without one, what its access logs say. */
async function callsOf(requestId: string, known: Known, io: Io): Promise<readonly CallLine[]> {
  const answer = await askRunning(known, admin =>
    postAdmin<{ readonly calls: readonly CallLine[] }>(admin, '/calls', { requestId }, PATIENCE),
  )
  if (answer !== null) return answer.calls
  const access = (await known.snapshot())?.gateway.log.access
  if (access === null || access === undefined || access.to === 'stdout') return []
  return findInLogs(access.to, requestId, file => {
    io.err(`tollgate: looking through ${file}`)
  })
}

function sentenceOf({
  time,
  method,
  network,
  route,
  status,
  reason,
  outcome,
  ms,
  traceId,
}: CallLine): string {
  const what = method ?? 'a message'
  const where = route === null ? '' : `, route ${route}`
  const how = [outcome, reason ?? ''].filter(word => word !== '').join(' ')
  const took = ms === undefined ? '' : `, ${ms} ms`
  const trace = traceId === undefined ? '' : `, trace ${traceId}`
  return `${time}  ${what} on ${network}: ${status ?? ''} ${how}${where}${took}${trace}`
}

const NO_CALL =
  'no call with this request id is known: the running gateway remembers the last ones of each account that failed, and log.access in gateway.yaml keeps them for as long as you want'

/** Why nothing was found. A key is not repeated: terminals are logged. */
function whyNot(what: string): string {
  if (isWellFormed(what))
    return 'no endpoint has this key: it was deleted or rotated, or is of another gateway'
  if (what.startsWith('tg_')) return 'this is not a whole key: its checksum does not hold'
  return `there is no account, endpoint or external id ${JSON.stringify(what)}`
}
