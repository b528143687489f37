/** `tollgate reload`: has the running gateway take an edit of its files, and says what came of it. */
import { findDataDir } from '../config/data-dir.ts'
import { formatProblem } from '../config/problem.ts'
import type { ReloadResult } from '../reload/reloader.ts'
import { restartNotice } from '../reload/restart-only.ts'
import { readServing } from '../serving-file.ts'
import { fail, print, readArguments } from './command.ts'
import type { Command, Io } from './command.ts'
import { loadOrThrow } from './load.ts'

/** Milliseconds that the gateway gets; an edit of 1 000 networks takes it about three seconds. */
const PATIENCE = 60_000

export const reload: Command = {
  usage: `tollgate reload [--config DIR] [--json]

Asks the running gateway to read its files again, which it also does by itself when they are saved. Prints what changed,
or each problem, and which settings wait for a restart; exits 1 when the edit was refused, in which case the
configuration before it is still served, and when no gateway runs on the data directory of DIR.`,

  async run(args, io) {
    const { config, json } = readArguments(args, [])
    const dataDir = (await findDataDir(config, io.env)) ?? (await loadOrThrow(config, io)).gateway.dataDir
    const serving = readServing(dataDir)
    const answer = serving === null ? null : await ask(serving.admin)
    if (answer === null) return fail(io, json, `no gateway runs on the data directory ${dataDir}`)
    if ('error' in answer) return fail(io, json, `the running gateway says: ${answer.error}`)
    return tell(answer, json, io)
  },
}

function tell(result: ReloadResult, json: boolean, io: Io): number {
  const { ok, changes, afterRestart, problems } = result
  const notice = afterRestart.length === 0 ? [] : [restartNotice(afterRestart)]
  const told = problems.map(formatProblem)
  print(io, json, result, () =>
    ok ? [...told, ...(changes.length === 0 ? ['nothing changed'] : changes), ...notice] : [],
  )
  if (ok) return 0
  if (!json) for (const line of told) io.err(line)
  io.err('tollgate: the edit was refused; the configuration before it is still served')
  return 1
}

/** What the gateway answers; null when nobody listens there, or somebody else. */
async function ask(admin: string): Promise<ReloadResult | { readonly error: string } | null> {
  try {
    const signal = AbortSignal.timeout(PATIENCE)
    const response = await fetch(`http://${admin}/reload`, { method: 'POST', signal })
    const answer = (await response.json()) as Partial<ReloadResult & { readonly error: string }>
    if (typeof answer.error === 'string') return { error: answer.error }
    return typeof answer.ok === 'boolean' ? (answer as ReloadResult) : null
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') return { error: 'nothing for a minute' }
    return null
  }
}
