/** Being signed in: the session itself is a cookie that this program cannot read. */
import { signal } from '@preact/signals'
import { ask, Failure } from './failure.ts'

/** Null until the gateway has been asked. */
export const signedIn = signal<boolean | null>(null)

/** Why the session ended, when it was not the owner's wish. */
export const ended = signal('')

/** Asks whether there is a session. */
export async function findSession(): Promise<void> {
  const told = (await ask('/api/session', 'GET')) as { signedIn: boolean }
  signedIn.value = told.signedIn
}

/** Opens a session with a dashboard token or an API key. */
export async function signIn(secret: string): Promise<void> {
  await ask('/api/session', 'POST', { secret })
  ended.value = ''
  signedIn.value = true
}

/** Replaces the dashboard token; all other sessions of the account end. Gives the new one. */
export async function replaceToken(token: string): Promise<string> {
  const made = (await ask('/api/token', 'POST', { token })) as { dashboardToken: string }
  return made.dashboardToken
}

/** Ends the session everywhere its cookie has got to. */
export async function signOut(): Promise<void> {
  await ask('/api/session', 'DELETE')
  signedIn.value = false
}

/** What a failure of a call says about the session. */
export function noticeEnd(failure: unknown): void {
  const over = [
    'invalid_key',
    'account_suspended',
    'endpoint_inactive',
    'management_denied',
    'address_denied',
  ]
  // A key with limits is refused a single call: the session stays.
  if (failure instanceof Failure && failure.why !== '') return
  if (!(failure instanceof Failure) || !over.includes(failure.reason)) return
  ended.value =
    failure.reason === 'invalid_key' ? 'Your session has ended. Please sign in again.' : failure.message
  signedIn.value = false
}
