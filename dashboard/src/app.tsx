import type { FunctionComponent } from 'preact'
import { signedIn } from './api/session.ts'
import { EndpointPage } from './pages/endpoint.tsx'
import { EndpointsPage } from './pages/endpoints.tsx'
import { MethodsPage } from './pages/methods.tsx'
import { NetworksPage } from './pages/networks.tsx'
import { OverviewPage } from './pages/overview.tsx'
import { SettingsPage } from './pages/settings.tsx'
import { SignInPage } from './pages/sign-in.tsx'
import { UnknownPage } from './pages/unknown.tsx'
import { UsagePage } from './pages/usage.tsx'
import { Shell } from './parts/shell.tsx'
import { Toast } from './parts/toast.tsx'
import { route } from './route.ts'
import type { PageName } from './address.ts'

const pages: Readonly<Record<PageName, FunctionComponent>> = {
  overview: OverviewPage,
  endpoints: EndpointsPage,
  usage: UsagePage,
  methods: MethodsPage,
  networks: NetworksPage,
  settings: SettingsPage,
}

/** The whole program: signing in, or the page that the URL names. */
export function App() {
  if (signedIn.value === null) return null
  if (!signedIn.value) return <SignInPage />
  return (
    <>
      <Shell>
        <Page />
      </Shell>
      <Toast />
    </>
  )
}

function Page() {
  const { page, id } = route.value
  if (page === null) return <UnknownPage />
  if (id !== '') return <EndpointPage key={id} id={id} />
  const Shown = pages[page]
  return <Shown key={page} />
}
