/** Who is signed in: from a request's cookie to the account it stands for at this very moment. */
import type { Gateway } from '../../call/gateway.ts'
import { isRefusal, refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import { admitOwner, signIn } from '../../call/owner.ts'
import type { Account } from '../../ports/accounts.ts'
import type { SignIns } from '../../ports/keys.ts'
import type { ClientAddress } from '../connection.ts'
import { dropCookie, readCookie, setCookie } from './cookie.ts'
import { cameOverTls } from './over-tls.ts'
import { Sessions } from './sessions.ts'
import type { PageVisit } from './visit.ts'

/** What the dashboard works with. */
export interface DashboardParts {
  readonly gateway: Gateway
  readonly signIns: SignIns
  readonly address: (request: PageVisit['request']) => ClientAddress
}

/** Lets owners in and out; holds the sessions. */
export class SignIn {
  readonly #parts: DashboardParts
  readonly #sessions = new Sessions()

  constructor(parts: DashboardParts) {
    this.#parts = parts
  }

  /** The account that a request's session stands for now; whatever no longer opens the account ends the session. */
  find(visit: PageVisit): Account | Refusal {
    const { signIns, address } = this.#parts
    const id = this.#cookie(visit)
    const grant = id === null ? null : this.#sessions.find(id, this.#now())
    if (id === null || grant === null) return refuse('invalid_key', 'Sign in first')
    const account = admitOwner(grant, address(visit.request).address, signIns)
    if (isRefusal(account)) this.#sessions.end(id)
    return account
  }

  /** The cookie of a new session, which takes the place of the browser's earlier one; wrong secrets are counted as bad keys. */
  enter(visit: PageVisit, secret: string): readonly [string, string] | Refusal {
    const { gateway, signIns, address } = this.#parts
    const from = address(visit.request)
    const grant = signIn(secret, from.address, signIns)
    if (isRefusal(grant)) {
      const wrong = grant.reason === 'invalid_key'
      return (wrong ? gateway.live.badKeys.count(from.limitAddress, this.#now()) : null) ?? grant
    }
    this.#end(visit)
    return setCookie(this.#sessions.open(grant, this.#now()), this.#secure(visit))
  }

  /** Ends the session; the header takes its cookie away. */
  leave(visit: PageVisit): readonly [string, string] {
    this.#end(visit)
    return dropCookie(this.#secure(visit))
  }

  #end(visit: PageVisit): void {
    const id = this.#cookie(visit)
    if (id !== null) this.#sessions.end(id)
  }

  #cookie(visit: PageVisit): string | null {
    return readCookie(visit.request.headers.cookie, this.#secure(visit))
  }

  #secure({ request }: PageVisit): boolean {
    return cameOverTls(request, this.#parts.gateway.snapshot.gateway.trustedProxies)
  }

  #now(): number {
    return this.#parts.gateway.live.clock.now()
  }
}
