/** The dashboard: a program in the browser on top of the `service_*` methods. */
import { effect } from '@preact/signals'
import { render } from 'preact'
import { App } from './app.tsx'
import { findSession, signedIn } from './api/session.ts'
import { account } from './model/account.ts'
import { clearAll } from './model/resource.ts'

effect(() => {
  if (signedIn.value === false) clearAll()
})

let owner: string | undefined
effect(() => {
  const { accountId } = account.known.value.value ?? {}
  // Somebody has signed in to another account in another tab: nothing that is known here belongs to it.
  if (accountId !== undefined && owner !== undefined && accountId !== owner) location.reload()
  owner = accountId
})

findSession().catch(() => (signedIn.value = false))
render(<App />, document.getElementById('app')!)
