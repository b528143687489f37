/** Who is signed in: from a request's cookie to the account it stands for at this very moment. */
import type { Gateway } from '../../call/gateway.ts'
import { isRefusal, refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import { admitOwner, signIn } from '../../call/owner.ts'
import type { Owner } from '../../call/owner.ts'
import type { Account, Accounts } from '../../ports/accounts.ts'
import type { SignIns } from '../../ports/keys.ts'
import type { Sessions } from '../../ports/sessions.ts'
import type { ClientAddress } from '../connection.ts'
import { dropCookie, readCookie, setCookie } from './cookie.ts'
import { cameOverTls } from './over-tls.ts'
import type { PageVisit } from './visit.ts'

/** What the dashboard works with. */
export interface DashboardParts {
  readonly gateway: Gateway
  readonly signIns: SignIns
  readonly sessions: Sessions
  readonly accounts: Pick<Accounts, 'rotateToken'>
  readonly address: (request: PageVisit['request']) => ClientAddress
}

/** Lets owners in and out. */
export class SignIn {
  readonly #parts: DashboardParts

  constructor(parts: DashboardParts) {
    this.#parts = parts
  }

  /** The owner that a request's session stands for now; whatever no longer opens the account ends the session. */
  async find(visit: PageVisit): Promise<Owner | Refusal> {
    const { gateway, sessions, signIns, address } = this.#parts
    const id = this.#cookie(visit)
    const grant = id === null ? null : await sessions.find(id, this.#now())
    if (id === null || grant === null) return refuse('invalid_key', 'Sign in first')
    const owner = admitOwner(grant, address(visit.request).address, signIns, gateway.snapshot)
    // Where that cannot be recorded, the next visit is refused for the same reason.
    if (isRefusal(owner)) await sessions.end(id).catch(() => undefined)
    return owner
  }

  /**
   * The cookie of a new session, which takes the place of the browser's earlier one. It is a write, so it takes one management call of the
   * account; wrong secrets are counted as bad keys.
   */
  async enter(visit: PageVisit, secret: string): Promise<readonly [string, string] | Refusal> {
    const { gateway, sessions, signIns, address } = this.#parts
    const { limits, badKeys } = gateway.live
    const from = address(visit.request)
    const found = signIn(secret, from.address, signIns, gateway.snapshot)
    if (isRefusal(found)) {
      const wrong = found.reason === 'invalid_key'
      return (wrong ? await badKeys.count(from.limitAddress, this.#now()) : null) ?? found
    }
    const limited = await limits.takeManagement(found.account, this.#now())
    if (limited !== null) return limited
    await this.#end(visit)
    const id = await sessions.open(found.grant, this.#now())
    // Its key may have been rotated while the session waited to be written, when there was none to end yet.
    const still = signIn(secret, from.address, signIns, gateway.snapshot)
    if (!isRefusal(still)) return setCookie(id, this.#secure(visit))
    await sessions.end(id)
    return still
  }

  /** Why a secret is not the account's present dashboard token; null when it is. Wrong ones are counted as bad keys. */
  async confirm(visit: PageVisit, token: string, account: Account): Promise<Refusal | null> {
    const { gateway, signIns, address } = this.#parts
    const opened = signIns.open(token)
    if (opened !== null && opened.endpointId === null && opened.accountId === account.id) return null
    const limited = await gateway.live.badKeys.count(address(visit.request).limitAddress, this.#now())
    // As `invalid_key` it would end the session of who mistypes it.
    return limited ?? refuse('invalid_params', 'This is not the dashboard token of this account')
  }

  /** Ends the session; the header takes its cookie away. */
  async leave(visit: PageVisit): Promise<readonly [string, string]> {
    await this.#end(visit)
    return dropCookie(this.#secure(visit))
  }

  async #end(visit: PageVisit): Promise<void> {
    const id = this.#cookie(visit)
    if (id !== null) await this.#parts.sessions.end(id)
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
