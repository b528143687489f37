/** `tollgate explain`: why a call would be refused, or where it would be sent. */
import { readTexts } from '../../config/read.ts'
import { isRefusal, refuse } from '../../refusal/refusal.ts'
import type { Reason } from '../../refusal/table.ts'
import { scanMessage } from '../../jsonrpc/message.ts'
import { rawOf } from '../../jsonrpc/raw.ts'
import { explain as explainCall } from '../../call/explain/explain.ts'
import type { Explained } from '../../call/explain/explain.ts'
import { differing } from '../../http/admin/on-disk.ts'
import type { OnDisk } from '../../http/admin/on-disk.ts'
import type { Served } from '../../http/admin/served.ts'
import { isPublicService, isService } from '../../management/call.ts'
import { findNetwork } from '../../management/urls.ts'
import type { Snapshot } from '../../snapshot/types.ts'
import { askRunning } from '../ask-running.ts'
import { typed } from '../output/called-as.ts'
import { fail, print, readArguments, UsageError } from '../command.ts'
import type { Command } from '../command.ts'
import { servedForAnother } from '../data-dir.ts'
import { callerOf } from './caller.ts'
import { explainLines } from './text.ts'
import { know } from '../known.ts'

/** Milliseconds that a running gateway gets to answer before the question is answered offline. */
const PATIENCE = 2_000

const OPTIONS = {
  plan: 'string',
  params: 'string',
  head: 'string',
  key: 'string',
  endpoint: 'string',
} as const

export const explain: Command = {
  options: OPTIONS,
  usage: `tollgate explain <network> <method> [--plan P | --key K | --endpoint E] [--params JSON] [--head N] [--config DIR] [--json]

Asks the running gateway, with its live heads and the health of its routes; when none runs, compiles the YAML and
says so. --plan takes the plan to ask for (default: the first one that is not public), --params the call's params as
JSON, --head the block number to take for the latest. --key and --endpoint ask for one caller: they show its status,
restrictions, rate and quota as well, and say what refuses it before its call is looked at.

  tollgate explain ethereum eth_getBalance --params '["0x00…", "0x1"]'`,

  async run(args, io) {
    const { config, json, words, given } = readArguments(args, ['network', 'method'], OPTIONS)
    const [slug, method] = words as [string, string]
    const known = await know({ config }, io)
    const another = await servedForAnother(config, known)
    if (another !== null) io.err(`tollgate: warning: ${another}`)
    const served = await known.served()
    if (findNetwork(served.networks, slug) === undefined)
      return fail(io, json, await known.whyNot('network', slug, Object.keys(served.networks)))
    const caller = await callerOf(given, slug, { config, json }, io)
    if (typeof caller === 'string') return fail(io, json, caller)
    const { silent } = await known.around()
    // Who looks for a caller's account is warned there.
    if (silent !== null && caller === null) io.err(`tollgate: warning: ${silent}`)
    const plan = planOf(caller?.plan ?? given['plan'], served)
    if (plan === null)
      return fail(io, json, await known.whyNot('plan', String(given['plan']), Object.keys(served.plans)))
    const params = paramsOf(given['params'])
    const head = headOf(given['head'])
    const question = { network: slug, method, plan, params, head }
    const snapshot = await known.snapshot()
    const found =
      (await askRunning(known, admin => askAt(admin, question))) ??
      (snapshot === null ? null : offline(question, snapshot))
    if (found === null) return fail(io, json, 'the running gateway no longer answers')
    if ('error' in found) return fail(io, json, `the running gateway answered: ${found.error}`)
    const explained = caller?.refusal == null ? found : refusedAs(caller.refusal, found)
    const files = snapshot?.version ?? null
    const { version } = explained.details
    const isInQuestion = files === null ? (await known.missing()).length > 0 : files !== version
    const onDisk = isInQuestion ? await askRunning(known, askOnDisk) : null
    const variables =
      onDisk?.version === version
        ? differing(onDisk, Object.values((await readTexts(config)).texts), io.env)
        : null
    const shown = caller === null ? explained.explanation : { ...explained.explanation, caller: caller.shown }
    print(io, json, shown, () => [
      ...(caller?.lines ?? []),
      ...explainLines(explained, { version: files, variables, isSilent: silent !== null }, words =>
        typed(io, words, config),
      ),
    ])
    return explained.explanation.outcome === 'refuse' ? 1 : 0
  },
}

/** A call of a caller whose every call is refused. */
function refusedAs(reason: Reason, { explanation, details }: Explained): Explained {
  const { message } = refuse(reason)
  return { explanation: { ...explanation, outcome: 'refuse', reason, message }, details }
}

/** What the YAML alone says. */
function offline({ network: slug, method, plan, params, head }: Question, snapshot: Snapshot): Explained {
  const network = snapshot.networks[slug]!
  const raw = params === null ? null : rawOf(params)
  const management = managementOf(method)
  return explainCall({ network, method, plan, params: raw, head, management }, snapshot, null)
}

function managementOf(method: string): 'everybody' | 'keys' | null {
  if (!isService(method)) return null
  return isPublicService(method) ? 'everybody' : 'keys'
}

function planOf(given: string | boolean | undefined, served: Served): string | null {
  const plans = Object.keys(served.plans)
  if (typeof given === 'string') return plans.includes(given) ? given : null
  return plans.find(name => name !== 'public') ?? plans[0] ?? null
}

/** The text of params that the pipeline could read. */
function paramsOf(given: string | boolean | undefined): string | null {
  if (typeof given !== 'string') return null
  const message = scanMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"m","params":${given}}`), 64)
  if (message.kind === 'single' && !isRefusal(message.item) && 'params' in message.item) return given
  throw new UsageError('--params must be a JSON array or object')
}

function headOf(given: string | boolean | undefined): number | null {
  if (typeof given !== 'string') return null
  const head = Number(given)
  if (!Number.isSafeInteger(head) || head < 0) throw new UsageError('--head must be a block number')
  return head
}

interface Question {
  readonly network: string
  readonly method: string
  readonly plan: string
  /** JSON text. */
  readonly params: string | null
  readonly head: number | null
}

/** The files as the running gateway reads them. */
async function askOnDisk(admin: string): Promise<OnDisk | null> {
  try {
    const response = await fetch(`http://${admin}/on-disk`, { signal: AbortSignal.timeout(PATIENCE) })
    return (await response.json()) as OnDisk
  } catch {
    return null // nobody listens there any more
  }
}

async function askAt(
  admin: string,
  { params, ...question }: Question,
): Promise<Explained | { readonly error: string } | null> {
  try {
    const response = await fetch(`http://${admin}/explain`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...question,
        params: params === null ? null : (JSON.parse(params) as unknown),
        details: true,
      }),
      signal: AbortSignal.timeout(PATIENCE),
    })
    return (await response.json()) as Explained | { readonly error: string }
  } catch {
    return null // nobody listens there any more
  }
}
