/** What the `service_*` methods answer, as far as the dashboard reads it. Times are Unix seconds. */

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
  readonly perSecond?: number | null
  readonly dailyLimit?: number | null
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
  service_usage: {
    takes: {
      by: 'hour' | 'day'
      from?: number
      to?: number
      endpointId?: string
      detail?: true
      groupBy?: readonly ('time' | 'endpoint' | 'method')[]
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
