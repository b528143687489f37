/** `service_*` calls: answered by the gateway, free, with a bucket of their own (design, "Management"). */
import { decodeJson, rawJson } from '../jsonrpc/raw.ts'
import type { Call } from '../jsonrpc/message.ts'
import { isRefusal, refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import type { GatewayConfig } from '../config/types.ts'
import { refused } from './reply/answer.ts'
import type { WholeAnswer } from './reply/answer.ts'
import type { Caller, Payer } from './caller.ts'
import type { Context } from './context.ts'

/** Bytes of params that are decoded: a hundred origins at their longest take half of it. */
const MAX_PARAMS = 64 * 1024

const FROM_A_PAGE =
  'Management calls from web pages are refused; the operator lists origins in management.origins'

/** Answers a management call. */
export async function serve(call: Call, caller: Caller, context: Context): Promise<WholeAnswer> {
  const refusal = await admitService(call.method, caller, context)
  if (refusal !== null) return refused(refusal)
  if (call.params.length > MAX_PARAMS) {
    const why = `the params of management have at most ${MAX_PARAMS} bytes`
    return refused(refuse('invalid_params', `Invalid params: ${why}`, { why }))
  }
  const { snapshot, live } = context
  const outcome = await live.management.answer(call.method, decodeJson(call.params), caller.payer, snapshot)
  if (outcome === null)
    return refused(refuse('method_not_found', `The method ${call.method} does not exist or is not available`))
  if (isRefusal(outcome)) return refused(outcome)
  if ('error' in outcome) return { kind: 'error', error: rawJson(outcome.error) }
  return { kind: 'result', result: 'json' in outcome ? outcome.json : rawJson(outcome.result) }
}

/** One management call of the account's; on the public route one unit of the address's rate. */
async function admitService(
  method: string,
  caller: Caller,
  { live, snapshot }: Context,
): Promise<Refusal | null> {
  const { payer } = caller
  if (payer === null) {
    if (!live.management.isPublic(method)) return refuse('invalid_key')
    const grant = await live.limits.take(caller, { units: 1, isRated: true }, live.clock.now())
    return isRefusal(grant) ? grant : null
  }
  const { endpoint, plan } = payer
  if (!endpoint.management || plan.managementKeys === 'none') return refuse('management_denied')
  if (!mayComeFrom(caller.visitor.origin, payer, snapshot.gateway) && !live.management.isPublic(method))
    return refuse('origin_denied', FROM_A_PAGE)
  return live.limits.takeManagement(payer.account, live.clock.now())
}

/**
 * Whether a page of this origin may manage the account with a key: the dashboard, pages listed by the operator, and
 * pages to which the account restricted the key. Another page would manage it with a key that a visitor left there.
 */
function mayComeFrom(
  origin: string | undefined,
  { endpoint }: Payer,
  { dashboardHost, management }: GatewayConfig,
): boolean {
  if (origin === undefined || endpoint.allowedOrigins !== null) return true
  return management.origins.includes(origin) || hostOf(origin) === dashboardHost
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).hostname : null
}
