/** POST /api/token {token}: a new dashboard token for who shows the present one. */
import { isRefusal, refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { Accounts } from '../../ports/accounts.ts'
import { checkSender, readObject } from './json-body.ts'
import type { SignIn } from './sign-in.ts'
import { holdFor, sendJson, sendRefusal } from './visit.ts'
import type { PageVisit } from './visit.ts'

/** Replaces the token and signs its owner in with the new one: every session of the account ends, this one too. */
export async function replaceToken(
  visit: PageVisit,
  signIn: SignIn,
  accounts: Pick<Accounts, 'rotateToken'>,
): Promise<void> {
  const read = checkSender(visit) ?? (await readObject(visit, holdFor(visit, visit.holder)))
  if (read === 'gone') return
  const made = isRefusal(read) ? read : await replace(visit, read.sent['token'], signIn, accounts)
  if (isRefusal(made)) sendRefusal(visit, made)
  else sendJson(visit, { dashboardToken: made.token }, made.cookie)
}

async function replace(
  visit: PageVisit,
  present: unknown,
  signIn: SignIn,
  accounts: Pick<Accounts, 'rotateToken'>,
): Promise<{ readonly token: string; readonly cookie: readonly [string, string] } | Refusal> {
  const owner = await signIn.find(visit)
  if (isRefusal(owner)) return owner
  const { account } = owner
  if (typeof present !== 'string') return refuse('invalid_request')
  // A session may have been opened with an API key, which may be somebody else's by now: that one must not lock the owner out.
  const refusal = await signIn.confirm(visit, present.trim(), account)
  if (refusal !== null) return refusal
  const token = await accounts.rotateToken(account.id, { actor: 'owner:dashboard' })
  if (token === null) return refuse('invalid_key')
  const cookie = await signIn.enter(visit, token)
  return isRefusal(cookie) ? cookie : { token, cookie }
}
