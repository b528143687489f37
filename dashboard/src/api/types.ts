/** What the `service_*` methods answer, as far as the dashboard reads it. Times are Unix seconds. */
import type { ShownLatency } from '../../../src/ports/latency.ts'

/** service_account */
export interface Account {
  readonly accountId: string
  readonly name: string
  readonly plan: string
  readonly createdAt: number
  readonly quota: { readonly requests: number; readonly used: number; readonly resetsAt: number } | null
  readonly rate: { readonly perSecond: number; readonly burst: number } | null
  readonly endpoints: { readonly used: number; readonly limit: number }
}

/** One of service_listEndpoints without keys: its URLs are templates that hold `<API_KEY>`. */
export interface Endpoint {
  readonly endpointId: string
  readonly name: string
  /** Network slug. */
  readonly chain: string
  readonly status: 'active' | 'inactive'
  /** The last characters of the key. */
  readonly keyHint: string
  /** Empty when the network is no longer served. */
  readonly httpsUrl: string
  readonly wssUrl: string
  readonly requestCount: number
  readonly callCount: number
  readonly createdAt: number
  readonly allowedOrigins: readonly string[] | null
  readonly allowedIps: readonly string[] | null
  readonly management: boolean
  readonly perSecond: number | null
  readonly dailyLimit: number | null
  /** When its key ends by itself; null is never. */
  readonly expiresAt: number | null
  /** The hour of its last call; null when there was none. */
  readonly lastUsedAt: number | null
  /** Labels that its owner has set: values by name. */
  readonly labels: Readonly<Record<string, string>>
}

/** service_getEndpoint: the secrets of one endpoint. */
export interface Secrets {
  readonly apiKey: string
  readonly httpsUrl: string
  readonly wssUrl: string
}

/** What service_updateEndpoint may change. */
export interface Change {
  readonly name?: string
  readonly status?: Endpoint['status']
  readonly allowedOrigins?: readonly string[] | null
  readonly allowedIps?: readonly string[] | null
  readonly management?: boolean
  readonly perSecond?: number | string | null
  readonly dailyLimit?: number | string | null
  readonly expiresAt?: number | null
  /** Those to add or replace; null takes one away. */
  readonly labels?: Readonly<Record<string, string | null>>
}

/** service_rotateKey: the new key, and when the one before it ends (null when it has). */
export interface Rotated extends Secrets {
  readonly oldKeyExpiresAt: number | null
}

/** One of service_methods; a name that ends in `*` stands for all that begin like this. */
export interface Method {
  readonly method: string
  /** Request units that a call costs. */
  readonly cost: number
  readonly tier: string
  /** Whether the account's plan has the tier. */
  readonly included: boolean
  /** Capabilities of a node that it needs. */
  readonly needs: readonly string[]
  /** Fewest and most params; null for any. */
  readonly params: readonly [number, number] | null
  /** Whether a node here can serve it. */
  readonly available: boolean
  readonly wssOnly: boolean
}

/** service_alerts: the webhook in short, and the parts of the quota (from 0 to 1) at which it gets a message. */
export interface Alerts {
  readonly webhook: string | null
  readonly quota: readonly number[]
}

/** One of service_audit. */
export interface AuditEntry {
  readonly time: number
  /** `operator`, `gateway`, `owner:dashboard`, `owner:many`, or `owner:` and an endpoint's id. */
  readonly actor: string
  readonly action: string
  readonly target: string
  readonly before: Readonly<Record<string, unknown>> | null
  readonly after: Readonly<Record<string, unknown>> | null
}

/** One of service_supportedNetworks. */
export interface Network {
  readonly slug: string
  readonly name: string
  readonly chainId: number | string
  readonly httpsEndpoint: string
  readonly wssEndpoint: string
  /** Whether it has WebSocket. */
  readonly wss: boolean
}

/** How many routes there are, and how many of them get calls now. */
export interface Routes {
  readonly routes: number
  readonly healthy: number
}

/** One of service_networkStatus. */
export interface NetworkStatus extends Routes {
  readonly slug: string
  readonly family: 'evm' | 'solana' | 'http' | 'jsonrpc'
  readonly head: number | null
  readonly capabilities: Readonly<Record<string, Routes>>
}

/** One row of service_usage. A sum has only those of the first four members that it was grouped by. */
export interface UsageRow {
  readonly time: number
  readonly endpointId: string
  readonly network: string
  readonly method: string
  readonly calls: number
  readonly requests: number
  readonly errors: number
  readonly refusals: number
  /** Only where rows are grouped by it: they have no calls, requests and errors then. */
  readonly reason?: string
  /** Milliseconds that nodes took, of all calls together; only with `detail`. */
  readonly upstreamMs?: number
  /** How long nodes took; null where no call is known to have had one. Only with `detail`. */
  readonly latency?: ShownLatency | null
  /** How many of the smaller groups this row stands for, with `top`. */
  readonly other?: number
  /** Only when `detail` was asked for. */
  readonly refusalsByReason?: Readonly<Record<string, number>>
}

/** The methods: what each takes and gives. */
export interface Methods {
  service_account: { takes: undefined; gives: Account }
  service_supportedNetworks: { takes: undefined; gives: { readonly networks: readonly Network[] } }
  service_networkStatus: { takes: undefined; gives: { readonly networks: readonly NetworkStatus[] } }
  service_listEndpoints: { takes: { keys: false }; gives: { readonly endpoints: readonly Endpoint[] } }
  service_getEndpoint: { takes: { endpointId: string }; gives: Secrets }
  service_createEndpoint: { takes: { chain: string; name?: string }; gives: { readonly endpointId: string } }
  service_updateEndpoint: { takes: Change & { endpointId: string }; gives: unknown }
  service_deleteEndpoint: { takes: { endpointId: string }; gives: unknown }
  service_rotateKey: { takes: { endpointId: string; overlap: string }; gives: Rotated }
  service_alerts: { takes: undefined; gives: Alerts }
  service_setAlerts: {
    takes: { webhook: string | null }
    gives: { readonly webhook: string | null; readonly secret?: string }
  }
  service_audit: {
    takes: { before?: number; limit: number }
    gives: { readonly entries: readonly AuditEntry[]; readonly next: number | null }
  }
  service_methods: { takes: { chain: string }; gives: { readonly methods: readonly Method[] } }
  service_usage: {
    takes: {
      by: 'hour' | 'day'
      from?: number
      to?: number
      endpointId?: string
      network?: string
      method?: string
      detail?: boolean
      groupBy?: readonly ('time' | 'endpoint' | 'network' | 'method' | 'reason')[]
      top?: number
      cursor?: string
    }
    gives: {
      readonly from: number
      readonly to: number
      readonly rows: readonly UsageRow[]
      readonly cursor?: string
    }
  }
}
