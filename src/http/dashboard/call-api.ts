/** POST /api/rpc: the one way from the page to the account, by the same `service_*` methods that keys have. */
import type { Gateway } from '../../call/gateway.ts'
import { isRefusal, refuse } from '../../refusal/refusal.ts'
import { rawJson, encodeResult } from '../../jsonrpc/raw.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { Management } from '../../call/context.ts'
import type { Account } from '../../ports/accounts.ts'
import type { SignIn } from './sign-in.ts'
import { checkSender, readObject } from './json-body.ts'
import { sendLong, sendRefusal } from './visit.ts'
import type { PageVisit } from './visit.ts'

/** Answers one call of a signed-in owner. */
export async function answerCall(visit: PageVisit, signIn: SignIn, gateway: Gateway): Promise<void> {
  const account = checkSender(visit) ?? (await signIn.find(visit))
  if (isRefusal(account)) {
    sendRefusal(visit, account)
    return
  }
  const read = await readObject(visit)
  if (read === 'gone') return
  const answer = isRefusal(read) ? read : await serve(read.sent, account, gateway)
  const id = isRefusal(read) ? null : idOf(read.sent)
  if (isRefusal(answer)) sendRefusal(visit, answer, [], rawJson(id))
  else if ('json' in answer) await sendLong(visit, encodeResult(rawJson(id), answer.json))
  else await sendLong(visit, rawJson({ jsonrpc: '2.0', id, ...answer }))
}

function idOf({ id }: Readonly<Record<string, unknown>>): string | number | null {
  return typeof id === 'number' || typeof id === 'string' ? id : null
}

/** The `result` or `error` member of the reply. */
async function serve(
  { method, params }: Readonly<Record<string, unknown>>,
  account: Account,
  { live, snapshot }: Gateway,
): Promise<Exclude<Awaited<ReturnType<Management['answer']>>, null> | Refusal> {
  if (typeof method !== 'string') return refuse('invalid_request')
  if (!live.management.methods.has(method)) return refuse('method_not_found')
  const limited = await live.limits.takeManagement(account, live.clock.now())
  if (limited !== null) return limited
  return (await live.management.answer(method, params, { account }, snapshot)) ?? refuse('method_not_found')
}
