/** The valid configuration: what the five YAML files say once substituted, checked and given their defaults. */
import type { AlertsConfig } from './alerts.ts'
import type { CacheConfig, NetworkCache, RuleCache, RuleResult } from './answers.ts'
import type { DashboardConfig } from './dashboard/types.ts'
import type { NodeConfig, PostgresConfig, RedisConfig, WorkersConfig } from './fleet.ts'
import type { NetworkSending, RouteSending, RuleSending } from './sending/types.ts'
import type { LogConfig, TracingConfig } from './observing/types.ts'

export type Family = 'evm' | 'solana' | 'http' | 'jsonrpc'

/** A host and port to bind. */
export interface ListenAddress {
  readonly host: string
  /** 0 asks the system for a free port. */
  readonly port: number
}

/**
 * Which keys may call `service_*` methods: those of all endpoints, by default only those of endpoints that the operator
 * created (`first`), or none, so that accounts are managed by dashboard tokens and the operator alone.
 */
export type ManagementKeys = 'all' | 'first' | 'none'

/** gateway.yaml: this process. Durations in milliseconds, sizes in bytes, paths absolute. */
export interface GatewayConfig {
  readonly listen: ListenAddress
  readonly admin: ListenAddress
  /** Where health and metrics alone are served; null is nowhere. */
  readonly probes: ListenAddress | null
  /** Host names, besides loopback ones and its own address, under which the admin listener answers; in lower case. */
  readonly adminHosts: readonly string[]
  /** Whether an edit of the YAML is taken by itself. */
  readonly watch: boolean
  readonly dataDir: string
  readonly workers: WorkersConfig
  /** The host that serves the dashboard; null when the base URL has no host pattern to derive it from. */
  readonly dashboardHost: string | null
  /** Null is Tollgate's own. */
  readonly dashboard: DashboardConfig | null
  /** CIDRs whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[]
  readonly tls: { readonly cert: string; readonly key: string } | null
  /** What is kept of answers; null is nothing. */
  readonly cache: CacheConfig | null
  readonly limits: {
    readonly body: number
    readonly batchReply: number
    readonly wsReply: number
    readonly connections: number
    /** Of one client address, an IPv6 /64 counting as one; trusted proxies are not bound by it. */
    readonly connectionsPerAddress: number
    /** Messages being handled, of all clients. */
    readonly inFlight: number
    /** Bytes held at a time for all clients, both ways. */
    readonly memory: number
    readonly socketCalls: number
    /** Levels of JSON nesting. */
    readonly depth: number
    /** Cap of a streamed reply; null is none. */
    readonly response: number | null
  }
  readonly timeouts: {
    readonly headers: number
    readonly request: number
    readonly keepAlive: number
    readonly connect: number
    readonly drain: number
    /** How much of `drain` idle connections stay open. */
    readonly drainIdle: number
  }
  /** Kinds of warnings that are known to the operator, and not shown. */
  readonly management: {
    /** For plans that do not specify it. */
    readonly keys: ManagementKeys
    /** Web pages that may make management calls with a key, besides the dashboard. */
    readonly origins: readonly string[]
  }
  readonly acknowledge: readonly string[]
  /** `keep`: how old an entry of the audit trail gets. */
  readonly audit: { readonly keep: number }
  readonly log: LogConfig
  /** Null traces nothing. */
  readonly tracing: TracingConfig | null
  readonly cors: { readonly origins: readonly string[] }
  readonly alerts: AlertsConfig
  readonly node: NodeConfig
  /** Null keeps accounts and usage on this machine alone. */
  readonly postgres: PostgresConfig | null
  /** Null counts limits on this machine alone. */
  readonly redis: RedisConfig | null
}

/** A question that the nodes of a network answer about themselves. */
export interface NodeQuestion {
  readonly method: string
  /** An array or an object. */
  readonly params: object
  /** The steps from the result to the value that is meant: names of members, indexes of arrays. */
  readonly at: readonly string[]
}

/** A question whose answer names the chain, and that answer. */
export interface IdentityQuestion extends NodeQuestion {
  readonly equals: string
}

/** One chain we serve (networks.yaml). */
export interface NetworkConfig extends NetworkCache, NetworkSending {
  readonly slug: string
  readonly name: string
  readonly family: Family
  /** What its nodes have besides the methods of the family: rows name it under `dialects`. */
  readonly dialect: string | null
  /** An integer for EVM (EIP-155), the identifier string otherwise. */
  readonly chainId: number | string
  readonly genesisHash: string | null
  /** What its nodes are asked for the newest height, and for their chain; null where that is not written, and in families that know it. */
  readonly head: NodeQuestion | null
  readonly identity: IdentityQuestion | null
  readonly subdomain: string
  readonly public: boolean
  /** A chain of one's own to test on: rows of this network may name what controls its node. */
  readonly devnet: boolean
  /** Blocks of state that a non-archive route keeps. */
  readonly stateWindow: number
  /** How far behind the best healthy head a route may be and serve tip reads. */
  readonly maxLag: { readonly unit: 'ms' | 'blocks'; readonly value: number }
  readonly hedge: boolean
  /** Whether equal calls that are in flight at the same time are one upstream call. */
  readonly share: boolean
  /** Rules of its own: laid over the family's rule of that name, or added. */
  readonly methods: Readonly<Record<string, RuleConfig>>
}

/** What a node's JSON-RPC error is about: README, "Node errors", says what follows from each. */
export type NodeErrorClass =
  | 'answer'
  | 'missing'
  | 'behind'
  | 'unsupported'
  | 'too_wide'
  | 'limited'
  | 'billing'
  | 'unavailable'
  | 'internal'

/** One row of a table of node errors: it fits an error when all that it states does. */
export interface ErrorRow {
  /** Null is any code but -32600 and -32602, which are answers unless a row names them. */
  readonly codes: readonly number[] | null
  /** What the message begins with, in any case; `*` stands for any run of characters. Null is any message. */
  readonly text: string | null
  /** Names or `prefix*` patterns of the methods whose errors it is about; null is every method. */
  readonly methods: readonly string[] | null
  /** Null is every family. */
  readonly family: Family | null
  /** `too_wide` is only ever said of calls that have a range of blocks; a row of it fits no other. */
  readonly class: NodeErrorClass
}

/** The blocks that a route keeps. */
export type History =
  { readonly from: number; readonly last: null } | { readonly from: null; readonly last: number }

/** One declared way to an upstream (routes.yaml). `http`, `ws` and `headers` are the operator's secrets. */
export interface RouteConfig extends RouteSending {
  readonly id: string
  readonly network: string
  readonly http: string
  readonly ws: string | null
  readonly capabilities: readonly string[]
  /** Which blocks, receipts and logs it keeps: those from one block on, or the last so many; null is all, or what its node tells. */
  readonly history: History | null
  readonly priority: number
  readonly weight: number
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds per attempt; null takes the rule's timeout class. */
  readonly timeout: number | null
  readonly limits: { readonly inFlight: number | null; readonly perSecond: number | null }
  readonly methods: { readonly allow: readonly string[] | null; readonly deny: readonly string[] }
  /** What errors of this upstream mean, ahead of the rows for all routes. */
  readonly errors: readonly ErrorRow[]
  readonly enabled: boolean
}

export type BlockKind = 'ref' | 'num' | 'hash' | 'txhash' | 'range' | 'slot'
export type LocalAnswer = 'chainId' | 'networkId' | 'emptyList' | 'false' | 'true' | 'zero' | 'health'

/** What a call does with an id that is bound to one route: makes it, uses it, or ends it. */
export type StickyRole = 'create' | 'use' | 'end'

/** One row of methods.yaml as written: every key may be absent. Defaults are filled when the snapshot is compiled. */
export interface RuleConfig extends RuleCache, RuleResult, RuleSending {
  readonly cost?: number
  readonly tier?: string
  readonly needs?: readonly string[]
  /** Fewest and most positional parameters. */
  readonly params?: readonly [number, number]
  /** Where the call says which block it reads. */
  readonly block?: {
    readonly at: number
    readonly kind: BlockKind
    readonly path?: string
    readonly omitted?: string
  }
  readonly reads?: 'state' | 'replay' | 'history' | 'none'
  readonly retry?: 'safe' | 'dedupe' | 'never'
  readonly hedge?: boolean
  readonly share?: boolean
  readonly timeout?: 'fast' | 'normal' | 'heavy'
  readonly answer?: LocalAnswer
  readonly subscribe?: string
  readonly sticky?: StickyRole
  readonly commitment?: number
  readonly jsonParams?: readonly number[]
  readonly maxRange?: number
  readonly tracers?: readonly string[]
  readonly enabled?: boolean
  /** Networks that have it, by slug and by dialect: where either is given, one of them has to fit. */
  readonly networks?: readonly string[]
  readonly dialects?: readonly string[]
}

/** One plan (plans.yaml). */
export interface PlanConfig {
  readonly name: string
  readonly tiers: readonly string[]
  /** Token bucket in request units; null is no limit. */
  readonly rate: { readonly perSecond: number; readonly burst: number } | null
  /** `every` in milliseconds, or a calendar month in UTC; null is no quota. */
  readonly quota: { readonly requests: number; readonly every: number | 'month' } | null
  readonly maxBatch: number
  readonly ws: { readonly connections: number; readonly subscriptions: number }
  /** The gateway's where the plan does not specify it. */
  readonly managementKeys: ManagementKeys
  /** In place of the gateway's; null takes those. */
  readonly alerts: Pick<AlertsConfig, 'quota'> | null
}

/** Everything the five files say. */
export interface Config {
  /** What clients see, with `{subdomain}` in the host or `{slug}` in the path; no trailing slash. */
  readonly baseUrl: string
  readonly networks: readonly NetworkConfig[]
  readonly routes: readonly RouteConfig[]
  /** What node errors mean on every route, ahead of the rows that ship with the program. */
  readonly errors: readonly ErrorRow[]
  readonly notification: { readonly cost: number }
  readonly families: Readonly<Record<Family, Readonly<Record<string, RuleConfig>>>>
  readonly plans: readonly PlanConfig[]
  /** Paths of the files that methods.yaml extends. */
  readonly extended: readonly string[]
  /** The bytes of `gateway.dashboard.logo` as base64, which passes between threads and processes; null without one. */
  readonly logo: string | null
  readonly gateway: GatewayConfig
}
