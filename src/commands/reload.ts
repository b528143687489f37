/** `tollgate reload`: has the running gateway take an edit of its files, and says what came of it. */
import { findWhereabouts } from '../config/data-dir.ts'
import { formatProblem } from '../config/problem.ts'
import { findGateway, gatewayAt } from '../http/admin/find-gateway.ts'
import type { LoadedBy, ReloadResult } from '../reload/reloader.ts'
import { restartNotice } from '../reload/restart-only.ts'
import type { Settings } from '../http/admin/running.ts'
import { adminOption } from './admin-option.ts'
import { ago } from './output/ago.ts'
import { fail, print, readArguments } from './command.ts'
import type { Command, Io } from './command.ts'
import { loadOrThrow } from './load.ts'

/** Milliseconds that the gateway gets; an edit of 1 000 networks takes it about three seconds. */
const PATIENCE = 60_000

const options = { admin: 'string' } as const

export const reload: Command = {
  options,
  usage: `tollgate reload [--admin HOST:PORT] [--config DIR] [--json]

Asks the gateway that serves DIR to read its files again, which it also does by itself when they are saved. Prints what
changed, or each problem, and which settings wait for a restart; exits 1 when the edit was refused, in which case the
configuration before it is still served, and when no gateway serves DIR.

  --admin  where its admin listener is. Otherwise it is found by the admin address or the data directory of DIR, so this
           is needed only after an edit of both`,

  async run(args, io) {
    const { config, json, given } = readArguments(args, [], options)
    const admin = adminOption(given['admin'])
    const sought = await (admin === null
      ? findGateway(config, await settingsOf(config, io))
      : gatewayAt(admin, config))
    if ('none' in sought) return fail(io, json, sought.none)
    const answer = await ask(sought.gateway.admin)
    if ('error' in answer) return fail(io, json, `the running gateway answered: ${answer.error}`)
    return tell(answer, json, io)
  },
}

/** Where the gateway may be: an edit with errors is still to be told to it, for it to say so. */
export async function settingsOf(dir: string, io: Io): Promise<Settings> {
  const { dataDir, admin } = await findWhereabouts(dir, io.env)
  return dataDir === null ? (await loadOrThrow(dir, io)).gateway : { dataDir, admin: admin ?? NOWHERE }
}

const NOWHERE = { host: '', port: 0 }

function tell(result: ReloadResult, json: boolean, io: Io): number {
  const { ok, changes, afterRestart, problems } = result
  const notice = afterRestart.length === 0 ? [] : [restartNotice(afterRestart)]
  const told = problems.map(formatProblem)
  const lines = () =>
    ok ? [...told, ...(changes.length === 0 ? [unchanged(result)] : changes), ...notice] : []
  print(io, json, result, lines, ok ? `the edit is served: version ${result.version}` : '')
  if (ok) return 0
  if (!json) for (const line of told) io.err(line)
  io.err('tollgate: the edit was refused; the configuration before it is still served')
  return 1
}

const BY: Readonly<Record<LoadedBy, string>> = {
  start: 'at the start',
  watcher: 'by the file watcher',
  request: 'by a reload',
  signal: 'by SIGHUP',
}

/** The file watcher may have taken what was just saved. */
function unchanged({ version, taken }: ReloadResult): string {
  return `nothing changed: version ${version} is already served, taken ${BY[taken.by]} ${ago(taken.at)}`
}

/** What the gateway answers. */
async function ask(admin: string): Promise<ReloadResult | { readonly error: string }> {
  try {
    const signal = AbortSignal.timeout(PATIENCE)
    const response = await fetch(`http://${admin}/reload`, { method: 'POST', signal })
    const answer = (await response.json()) as Partial<ReloadResult & { readonly error: string }>
    if (typeof answer.error === 'string') return { error: answer.error }
    return typeof answer.ok === 'boolean' ? (answer as ReloadResult) : { error: 'nothing of a reload' }
  } catch (error) {
    const isLate = (error as Error).name === 'TimeoutError'
    return { error: isLate ? 'nothing for a minute' : 'nothing; it may have just been stopped' }
  }
}
