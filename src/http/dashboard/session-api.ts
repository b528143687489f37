/** /api/session: sign in (POST), sign out (DELETE), and whether one is signed in (GET). */
import { isRefusal, refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { SignIn } from './sign-in.ts'
import { checkSender, readObject } from './json-body.ts'
import { holdFor, sendJson, sendRefusal } from './visit.ts'
import type { PageVisit } from './visit.ts'

/** GET: tells the page what to show first. */
export async function tellSession(visit: PageVisit, signIn: SignIn): Promise<void> {
  sendJson(visit, { signedIn: !isRefusal(await signIn.find(visit)) })
}

/** POST {secret}: opens a session. */
export async function openSession(visit: PageVisit, signIn: SignIn): Promise<void> {
  const read = checkSender(visit) ?? (await readObject(visit, holdFor(visit, visit.holder)))
  if (read === 'gone') return
  const cookie = isRefusal(read) ? read : await enter(visit, read.sent['secret'], signIn)
  if ('reason' in cookie) sendRefusal(visit, cookie)
  else sendJson(visit, { signedIn: true }, cookie)
}

async function enter(
  visit: PageVisit,
  secret: unknown,
  signIn: SignIn,
): Promise<readonly [string, string] | Refusal> {
  return typeof secret === 'string' ? signIn.enter(visit, secret.trim()) : refuse('invalid_request')
}

/** DELETE: ends the session. */
export async function endSession(visit: PageVisit, signIn: SignIn): Promise<void> {
  const refusal = checkSender(visit)
  if (refusal === null) sendJson(visit, { signedIn: false }, await signIn.leave(visit))
  else sendRefusal(visit, refusal)
}
