/** The snapshot: the configuration compiled into what one call needs to look up. Plain frozen data. */
import type {
  ErrorRow,
  Family,
  GatewayConfig,
  NetworkConfig,
  NodeErrorClass,
  PlanConfig,
  RouteConfig,
  RuleConfig,
} from '../config/types.ts'

/** A row of methods.yaml with every default filled in. */
export interface Rule {
  /** The name or `prefix*` pattern that the row is written under. */
  readonly match: string
  readonly cost: number
  readonly tier: string
  readonly needs: readonly string[]
  readonly params: readonly [number, number] | null
  readonly block: NonNullable<RuleConfig['block']> | null
  readonly reads: NonNullable<RuleConfig['reads']>
  readonly retry: NonNullable<RuleConfig['retry']>
  readonly hedge: boolean
  /** Whether it hands a transaction to the network. */
  readonly sends: boolean
  /** To how many upstreams at once; null is what the network says. */
  readonly broadcast: number | null
  /** Whether equal calls in flight may be one upstream call; only reads ever are. */
  readonly share: boolean
  readonly cache: NonNullable<RuleConfig['cache']>
  /** The steps from the result to the number of its block; null where it shows none. */
  readonly shows: readonly string[] | null
  readonly is: readonly string[] | 'none' | null
  readonly timeout: NonNullable<RuleConfig['timeout']>
  readonly answer: NonNullable<RuleConfig['answer']> | null
  /** On a subscribe row: the method that ends it. */
  readonly subscribe: string | null
  /** On an unsubscribe row: the method that began it. */
  readonly unsubscribes: string | null
  readonly sticky: NonNullable<RuleConfig['sticky']> | null
  readonly nullIsLag: boolean
  readonly commitment: number | null
  readonly jsonParams: readonly number[]
  readonly maxRange: number | null
  readonly tracers: readonly string[] | null
}

/** A route that a method cannot use, and why, as a sentence for the operator. */
export interface SkippedRoute {
  readonly id: string
  readonly why: string
}

/** Why no route at all can serve a method. */
export type Unable =
  | { readonly reason: 'capability_missing'; readonly capability: string }
  | { readonly reason: 'method_not_found' }
  | { readonly reason: 'no_route' }

/** One method of one network, joined with the routes able to serve it. */
export interface MethodRow {
  readonly rule: Rule
  /** Ids of the able routes, by priority. */
  readonly routes: readonly string[]
  /** Those of them that keep all historical state. */
  readonly archive: readonly string[]
  readonly skipped: readonly SkippedRoute[]
  /** Set when `routes` is empty. */
  readonly unable: Unable | null
}

/** A route of the snapshot: what routes.yaml says of it. */
export interface Route extends RouteConfig {
  /** The operator's rows about node errors, as they are tried: the route's own, then those of all routes. */
  readonly errors: readonly ErrorRow[]
}

/** One network with its methods. */
export interface Network extends Omit<NetworkConfig, 'methods'> {
  /** URL of the network without the path of section 4, such as `https://ethereum-rpc.example.org`. */
  readonly httpsUrl: string
  readonly wssUrl: string
  /** Whether some route can serve subscriptions. */
  readonly wss: boolean
  /** Null-prototype, by exact method name. */
  readonly methods: Readonly<Record<string, MethodRow>>
  /** Rows of patterns, in the order in which they are tried. */
  readonly patterns: readonly MethodRow[]
  /** Names and patterns that are switched off: no wider pattern serves what they cover. */
  readonly off: readonly string[]
  /** Names and patterns of rules that are written and do not count here, and why. */
  readonly absent: Readonly<Record<string, string>>
  /** As in networks.yaml; null also where gateway.yaml keeps nothing. */
  readonly cache: NetworkConfig['cache']
  /** Highest cost of a call: what a rate limit's burst has to let through. */
  readonly maxCost: number
  /** Whether its transactions go to private routes alone: it has one, enabled or not. */
  readonly privateSends: boolean
  /** The enabled routes, by priority. */
  readonly routes: readonly Route[]
  /** Ids of routes that are switched off. */
  readonly disabled: readonly string[]
}

/** Everything a call needs that configuration decides. */
export interface Snapshot {
  /** Short hash of the content: equal configurations have equal versions. */
  readonly version: string
  /** The same of what the machines of a fleet have in common: all but gateway.yaml. */
  readonly sharedVersion: string
  readonly networks: Readonly<Record<string, Network>>
  /** Public host name (lower case, no port) → network slug; empty in the path form of baseUrl. */
  readonly hosts: Readonly<Record<string, string>>
  /** Host names, besides addresses of ours, whose `/` is the dashboard: that of the base URL without the network's part, and localhost. */
  readonly baseHosts: readonly string[]
  readonly plans: Readonly<Record<string, Plan>>
  readonly notification: { readonly cost: number }
  readonly gateway: GatewayConfig
  /** The bytes of the dashboard's logo as base64; null without one. */
  readonly logo: string | null
}

/** What an account may do. */
export type Plan = PlanConfig

export type { ErrorRow, Family, GatewayConfig, NodeErrorClass }
