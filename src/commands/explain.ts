/** `tollgate explain`: why a call would be refused, or where it would be sent. */
import { suggester } from '../config/suggest.ts'
import { isRefusal } from '../jsonrpc/is-refusal.ts'
import { scanMessage } from '../jsonrpc/message.ts'
import { rawOf } from '../jsonrpc/raw.ts'
import { explain as explainCall } from '../pipeline/explain.ts'
import type { Explained } from '../pipeline/explain.ts'
import { findRunning } from '../running.ts'
import { isPublicService, isService } from '../service/call.ts'
import { readServing } from '../serving-file.ts'
import type { Snapshot } from '../snapshot/types.ts'
import { fail, print, readArguments, UsageError } from './command.ts'
import type { Command } from './command.ts'
import { explainLines } from './explain-text.ts'
import { loadOrThrow } from './load.ts'

/** Milliseconds that a running gateway gets to answer before the question is answered offline. */
const PATIENCE = 2_000

const OPTIONS = { plan: 'string', params: 'string', head: 'string' } as const

export const explain: Command = {
  options: OPTIONS,
  usage: `tollgate explain <network> <method> [--plan P] [--params JSON] [--head N] [--config DIR] [--json]

Asks the running gateway, with its live heads and the health of its routes; when none runs, compiles the YAML and
says so. --plan takes the plan to ask for (default: the first one that is not public), --params the call's params as
JSON, --head the block number to take for the latest.

  tollgate explain ethereum eth_getBalance --params '["0x00…", "0x1"]'`,

  async run(args, io) {
    const { config, json, words, given } = readArguments(args, ['network', 'method'], OPTIONS)
    const [slug, method] = words as [string, string]
    const snapshot = await loadOrThrow(config, io)
    const network = snapshot.networks[slug]
    if (network === undefined)
      return fail(io, json, `there is no network "${slug}"; ${among(slug, Object.keys(snapshot.networks))}`)
    const plan = planOf(given['plan'], snapshot)
    if (plan === null) {
      const wanted = String(given['plan'])
      return fail(io, json, `there is no plan "${wanted}"; ${among(wanted, Object.keys(snapshot.plans))}`)
    }
    const params = paramsOf(given['params'])
    const raw = params === null ? null : rawOf(params)
    const head = headOf(given['head'])
    const explained =
      (await askLive(config, snapshot, { network: slug, method, plan, params, head })) ??
      explainCall(
        { network, method, plan, params: raw, head, management: managementOf(method) },
        snapshot,
        null,
      )
    if ('error' in explained) return fail(io, json, `the running gateway says: ${explained.error}`)
    print(io, json, explained.explanation, () => explainLines(explained, snapshot.version))
    return explained.explanation.outcome === 'refuse' ? 1 : 0
  },
}

function managementOf(method: string): 'everybody' | 'keys' | null {
  if (!isService(method)) return null
  return isPublicService(method) ? 'everybody' : 'keys'
}

/** What was meant, or what there is. */
function among(word: string, known: readonly string[]): string {
  const more = known.length > 8 ? ' …' : ''
  return suggester(known)(word) ?? `there are ${known.slice(0, 8).join(', ')}${more}`
}

function planOf(given: string | boolean | undefined, { plans }: Snapshot): string | null {
  if (typeof given === 'string') return plans[given] === undefined ? null : given
  const names = Object.keys(plans)
  return names.find(name => name !== 'public') ?? names[0] ?? null
}

/** The text of params that the pipeline could read. */
function paramsOf(given: string | boolean | undefined): string | null {
  if (typeof given !== 'string') return null
  const message = scanMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"m","params":${given}}`), 64)
  if (message.kind === 'single' && !isRefusal(message.item) && 'params' in message.item) return given
  throw new UsageError('--params has to be a JSON array or object')
}

function headOf(given: string | boolean | undefined): number | null {
  if (typeof given !== 'string') return null
  const head = Number(given)
  if (!Number.isSafeInteger(head) || head < 0) throw new UsageError('--head has to be a block number')
  return head
}

interface LiveQuestion extends Readonly<Record<string, unknown>> {
  readonly params: string | null
}
type LiveAnswer = Explained | { readonly error: string }

/** The running gateway's word, wherever its data is; null when none runs. */
async function askLive(
  dir: string,
  { gateway }: Snapshot,
  question: LiveQuestion,
): Promise<LiveAnswer | null> {
  const serving = readServing(gateway.dataDir)
  const answer = serving === null ? null : await askAt(serving.admin, question)
  if (answer !== null) return answer
  const running = await findRunning(dir, gateway)
  return running === null ? null : askAt(running.admin, question)
}

async function askAt(admin: string, { params, ...question }: LiveQuestion): Promise<LiveAnswer | null> {
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
    return (await response.json()) as LiveAnswer
  } catch {
    return null // nobody listens there any more
  }
}
