/** `tollgate explain`: why a call would be refused, or where it would be sent. */
import { isRefusal } from '../jsonrpc/is-refusal.ts'
import { scanMessage } from '../jsonrpc/message.ts'
import { rawOf } from '../jsonrpc/raw.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import { explain as explainCall } from '../pipeline/explain.ts'
import type { Explanation } from '../pipeline/explain.ts'
import { readServing } from '../serving-file.ts'
import type { Snapshot } from '../snapshot/types.ts'
import { fail, print, readArguments, UsageError } from './command.ts'
import type { Command } from './command.ts'
import { loadOrThrow } from './load.ts'

/** Milliseconds that a running gateway gets to answer before the question is answered offline. */
const PATIENCE = 2_000

export const explain: Command = {
  usage: `tollgate explain <network> <method> [--plan P] [--params JSON] [--head N] [--config DIR] [--json]

Asks the running gateway, with its live heads and the health of its routes; when none runs, compiles the YAML and
says so. --plan takes the plan to ask for (default: the first one that is not public), --params the call's params as
JSON, --head the block number to take for the latest.

  tollgate explain ethereum eth_getBalance --params '["0x00…", "0x1"]'`,

  async run(args, io) {
    const options = { plan: 'string', params: 'string', head: 'string' } as const
    const { config, json, words, given } = readArguments(args, ['network', 'method'], options)
    const [slug, method] = words as [string, string]
    const snapshot = await loadOrThrow(config, io)
    const network = snapshot.networks[slug]
    if (network === undefined) return fail(io, json, `there is no network "${slug}"`)
    const plan = planOf(given['plan'], snapshot)
    if (plan === null) return fail(io, json, `there is no plan "${String(given['plan'])}"`)
    const params = paramsOf(given['params'])
    const head = headOf(given['head'])
    const question = {
      network: slug,
      method,
      plan,
      params: params === null ? null : (JSON.parse(params) as unknown),
      head,
    }
    const explanation =
      (await askLive(snapshot, question)) ??
      explainCall(
        { network, method, plan, params: params === null ? null : rawOf(params), head },
        snapshot,
        null,
      )
    print(io, json, explanation, () => sentences(explanation))
    return explanation.outcome === 'refuse' ? 1 : 0
  },
}

function planOf(given: string | boolean | undefined, { plans }: Snapshot): string | null {
  if (typeof given === 'string') return plans[given] === undefined ? null : given
  const names = Object.keys(plans)
  return names.find(name => name !== 'public') ?? names[0] ?? null
}

/** The params as the pipeline would read them. */
function paramsOf(given: string | boolean | undefined): Raw | null {
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

async function askLive(snapshot: Snapshot, question: unknown): Promise<Explanation | null> {
  const serving = readServing(snapshot.gateway.dataDir)
  if (serving === null) return null
  try {
    const response = await fetch(`http://${serving.admin}/explain`, {
      method: 'POST',
      body: JSON.stringify(question),
      signal: AbortSignal.timeout(PATIENCE),
    })
    return response.ok ? ((await response.json()) as Explanation) : null
  } catch {
    return null // nobody listens there any more
  }
}

function sentences({
  network,
  method,
  plan,
  live,
  outcome,
  message,
  reason,
  rule,
  routes,
}: Explanation): string[] {
  const source = live ? 'as the running gateway sees it' : 'offline: no gateway runs on this dataDir'
  const decision = {
    forward: 'is sent to one of the able routes',
    answer: 'is answered by the gateway itself',
    refuse: `is refused with ${reason ?? ''}: ${message ?? ''}`,
  }[outcome]
  const needs = rule === null || rule.needs.length === 0 ? 'nothing special' : rule.needs.join(', ')
  return [
    `${method} on ${network}, plan ${plan} (${source}): ${decision}`,
    rule === null
      ? '  no rule matches'
      : `  rule ${rule.match}: costs ${rule.cost}, tier ${rule.tier}, needs ${needs}`,
    ...routes.map(({ id, able, why }) => `  route ${id}: ${able ? 'able' : `skipped, ${why ?? ''}`}`),
  ]
}
