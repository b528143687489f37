/** /api/session: sign in (POST), sign out (DELETE), and whether one is signed in (GET). */
import { isRefusal, refuse } from '../../refusal/refusal.ts'
import type { Door } from './door.ts'
import { checkSender, readObject } from './json-body.ts'
import { sendJson, sendRefusal } from './visit.ts'
import type { PageVisit } from './visit.ts'

/** GET: tells the page what to show first. */
export function tellSession(visit: PageVisit, door: Door): void {
  sendJson(visit, { signedIn: !isRefusal(door.find(visit)) })
}

/** POST {secret}: opens a session. */
export async function openSession(visit: PageVisit, door: Door): Promise<void> {
  const read = checkSender(visit) ?? (await readObject(visit))
  if (read === 'gone') return
  const cookie = isRefusal(read) ? read : enter(visit, read.sent['secret'], door)
  if ('reason' in cookie) sendRefusal(visit, cookie)
  else sendJson(visit, { signedIn: true }, cookie)
}

function enter(visit: PageVisit, secret: unknown, door: Door): ReturnType<Door['enter']> {
  return typeof secret === 'string' ? door.enter(visit, secret.trim()) : refuse('invalid_request')
}

/** DELETE: ends the session. */
export function endSession(visit: PageVisit, door: Door): void {
  const refusal = checkSender(visit)
  if (refusal === null) sendJson(visit, { signedIn: false }, door.leave(visit))
  else sendRefusal(visit, refusal)
}
