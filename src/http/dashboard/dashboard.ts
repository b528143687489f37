/**
 * The dashboard on the base host: the files of the browser program, its sessions, and one path to the `service_*` methods. Its paths are
 * `/`, `/assets/…` and `/api/…`; no network may have such a slug (config/link/networks.ts), so the API is never hidden.
 */
import { storeRefusal } from '../../call/store-refusal.ts'
import { refuse } from '../../refusal/refusal.ts'
import type { Asset } from './asset.ts'
import { brandedFiles } from './branded.ts'
import { answerCall } from './call-api.ts'
import { SignIn } from './sign-in.ts'
import type { DashboardParts } from './sign-in.ts'
import { sendFile } from './file.ts'
import { endSession, openSession, tellSession } from './session-api.ts'
import { replaceToken } from './token-api.ts'
import { sendRefusal } from './visit.ts'
import type { PageVisit } from './visit.ts'

type Answer = (visit: PageVisit) => void | Promise<void>
type Verbs = Readonly<Record<string, Answer>>

/** Answers a request for one of the dashboard's paths; null for any other path. */
export type Dashboard = (path: string) => Answer | null

/** Makes the dashboard from its files. */
export function makeDashboard(assets: ReadonlyMap<string, Asset>, parts: DashboardParts): Dashboard {
  const signIn = new SignIn(parts)
  const paths = new Map<string, Verbs>([
    [
      '/api/session',
      {
        GET: visit => tellSession(visit, signIn),
        POST: visit => openSession(visit, signIn),
        DELETE: visit => endSession(visit, signIn),
      },
    ],
    ['/api/token', { POST: visit => replaceToken(visit, signIn, parts.accounts) }],
    ['/api/rpc', { POST: visit => answerCall(visit, signIn, parts.gateway) }],
  ])
  for (const [path, asset] of assets) paths.set(path, fileVerbs(asset))
  const branded = brandedFiles(assets.get('/')!)
  return path => {
    const own = branded(parts.gateway.snapshot).get(path)
    const verbs = own === undefined ? paths.get(path) : fileVerbs(own)
    return verbs === undefined ? null : visit => answer(visit, verbs, parts)
  }
}

function fileVerbs(asset: Asset): Verbs {
  return { GET: visit => sendFile(visit, asset) }
}

async function answer(visit: PageVisit, verbs: Verbs, { gateway }: DashboardParts): Promise<void> {
  const { method = '' } = visit.request
  const verb = method === 'HEAD' ? 'GET' : method
  const found = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
  if (found === undefined) {
    const allowed = Object.keys(verbs).flatMap(name => (name === 'GET' ? ['GET', 'HEAD'] : [name]))
    sendRefusal(visit, refuse('method_not_allowed'), ['Allow', allowed.join(', ')])
    return
  }
  try {
    await found(visit)
  } catch (error) {
    const unavailable = storeRefusal(error)
    if (unavailable === null) gateway.live.observer.bug(error, visit.requestId)
    sendRefusal(visit, unavailable ?? refuse('internal'))
  }
}
