/** POST /api/rpc: the one way from the page to the account, by the same `service_*` methods that keys have. */
import type { Gateway } from '../../call/gateway.ts'
import { isRefusal, refuse } from '../../refusal/refusal.ts'
import { rawJson, encodeResult } from '../../jsonrpc/raw.ts'
import type { Management } from '../../call/context.ts'
import type { Owner } from '../../call/owner.ts'
import type { Author } from '../../ports/audit.ts'
import type { SignIn } from './sign-in.ts'
import { checkSender, readObject } from './json-body.ts'
import { holdFor, sendLong, sendRefusal } from './visit.ts'
import type { PageVisit } from './visit.ts'

/** The author in the audit trail, whichever secret opened the session. */
const DASHBOARD: Author = { actor: 'owner:dashboard' }

/** Answers one call of a signed-in owner. */
export async function answerCall(visit: PageVisit, signIn: SignIn, gateway: Gateway): Promise<void> {
  const early = checkSender(visit) ?? (await signIn.find(visit))
  if (isRefusal(early)) {
    sendRefusal(visit, early)
    return
  }
  const hold = holdFor(visit, early.account.id)
  const read = await readObject(visit, hold)
  if (read === 'gone') return
  // The session may have ended while the body arrived.
  const owner = await signIn.find(visit)
  const answer = isRefusal(read) ? read : isRefusal(owner) ? owner : await serve(read.sent, owner, gateway)
  const id = isRefusal(read) ? null : idOf(read.sent)
  if (isRefusal(answer)) sendRefusal(visit, answer, [], rawJson(id))
  else if ('json' in answer) await sendLong(visit, hold, encodeResult(rawJson(id), answer.json))
  else await sendLong(visit, hold, rawJson({ jsonrpc: '2.0', id, ...answer }))
}

function idOf({ id }: Readonly<Record<string, unknown>>): string | number | null {
  return typeof id === 'number' || typeof id === 'string' ? id : null
}

/** The `result` or `error` member of the reply. */
async function serve(
  { method, params }: Readonly<Record<string, unknown>>,
  { account, endpoint }: Owner,
  { live, snapshot }: Gateway,
): Promise<Exclude<Awaited<ReturnType<Management['answer']>>, null>> {
  if (typeof method !== 'string') return refuse('invalid_request')
  if (!live.management.methods.has(method)) return refuse('method_not_found')
  const limited = await live.limits.takeManagement(account, live.clock.now())
  if (limited !== null) return limited
  const caller = { account, endpoint, by: DASHBOARD }
  return (await live.management.answer(method, params, caller, snapshot)) ?? refuse('method_not_found')
}
