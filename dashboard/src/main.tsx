/** The dashboard: a program in the browser on top of the `service_*` methods. */
import { effect } from '@preact/signals'
import { render } from 'preact'
import { App } from './app.tsx'
import { findSession, signedIn } from './api/session.ts'
import { clearAll } from './model/resource.ts'

effect(() => {
  if (signedIn.value === false) clearAll()
})

findSession().catch(() => (signedIn.value = false))
render(<App />, document.getElementById('app')!)
