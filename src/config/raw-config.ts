/** The five files as their schemas let them be written: units still text, defaults still absent. */
import type { AlertsConfig } from './alerts.ts'
import type { Finality } from './answers.ts'
import type { DashboardConfig } from './dashboard/types.ts'
import type { RedisConfig } from './fleet.ts'
import type { RawTracing } from './observing/types.ts'
import type {
  ErrorRow,
  Family,
  GatewayConfig,
  IdentityQuestion,
  LocalAnswer,
  ManagementKeys,
  NetworkConfig,
  PlanConfig,
  RouteConfig,
  RuleConfig,
} from './types.ts'

/** A row of methods.yaml; `answer: true` and `answer: false` come as YAML types them. */
export type RawRule = Omit<RuleConfig, 'answer'> & { readonly answer?: LocalAnswer | boolean }

/** Rules by name. */
export type RawRules = Readonly<Record<string, RawRule>>

/** `head` or `identity` of a network. */
export interface RawQuestion {
  readonly method: string
  readonly params?: object
  readonly at?: string
}

/** An entry of networks.yaml. */
export interface RawNetwork extends Pick<NetworkConfig, 'name' | 'family' | 'chainId'> {
  readonly dialect?: string
  readonly genesisHash?: string
  readonly head?: RawQuestion
  readonly identity?: RawQuestion & Pick<IdentityQuestion, 'equals'>
  readonly subdomain?: string
  readonly public?: boolean
  readonly devnet?: boolean
  readonly stateWindow?: number
  readonly maxLag?: string | number
  readonly hedge?: boolean
  readonly broadcast?: number
  readonly share?: boolean
  readonly finality?: Finality | 'none'
  readonly cache?: boolean | { readonly tip?: string }
  readonly methods?: RawRules
}

/** A row of `errors` in routes.yaml. */
export interface RawErrorRow extends Pick<ErrorRow, 'class'> {
  readonly code?: number | readonly number[]
  readonly text?: string
  readonly methods?: readonly string[]
  readonly family?: Family
}

/** An item of routes.yaml. */
export interface RawRoute extends Pick<RouteConfig, 'id' | 'network' | 'http'> {
  readonly ws?: string
  readonly capabilities?: readonly string[]
  readonly history?: { readonly from?: number; readonly last?: number }
  readonly priority?: number
  readonly weight?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly timeout?: string
  readonly limits?: { readonly inFlight?: number; readonly perSecond?: number }
  readonly batch?: number
  readonly methods?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] }
  readonly errors?: readonly RawErrorRow[]
  readonly private?: boolean
  readonly trace?: boolean
  readonly enabled?: boolean
}

/** An entry of plans.yaml. */
export interface RawPlan extends Pick<PlanConfig, 'tiers'> {
  readonly rate?: { readonly perSecond: number; readonly burst: number }
  readonly quota?: { readonly requests: number; readonly every: string }
  readonly maxBatch?: number
  readonly ws?: { readonly connections?: number; readonly subscriptions?: number }
  readonly management?: { readonly keys: ManagementKeys }
  readonly alerts?: { readonly quota: readonly string[] }
}

/** A number of processes; auto is one for each core. */
export type RawCount = number | 'auto'

/** gateway.yaml. */
export interface RawGateway {
  readonly listen?: string
  readonly admin?: string
  readonly probes?: string
  readonly dataDir?: string
  readonly workers?: RawCount | { readonly count: RawCount; readonly balance?: 'accept' | 'roundRobin' }
  readonly dashboardHost?: string
  readonly dashboard?: {
    readonly name?: string
    readonly logo?: string
    readonly accent?: string
    readonly links?: DashboardConfig['links']
  }
  readonly adminHosts?: readonly string[]
  readonly watch?: boolean
  readonly trustedProxies?: readonly string[]
  readonly tls?: { readonly cert: string; readonly key: string }
  readonly cache?: {
    readonly memory?: string | number
    readonly entry?: string | number
    readonly header?: boolean
  }
  readonly limits?: Partial<Record<keyof GatewayConfig['limits'], string | number>>
  readonly timeouts?: Partial<Record<keyof GatewayConfig['timeouts'], string>>
  readonly management?: { readonly keys?: ManagementKeys; readonly origins?: readonly string[] }
  readonly acknowledge?: readonly string[]
  readonly audit?: { readonly keep?: string }
  readonly log?: {
    readonly level?: GatewayConfig['log']['level']
    readonly access?: {
      readonly to: string
      readonly address?: 'none' | 'prefix' | 'full'
      readonly filter?: {
        readonly status?: readonly (string | number)[]
        readonly slower?: string
        readonly sample?: string
      }
    }
  }
  readonly tracing?: RawTracing
  readonly cors?: Partial<GatewayConfig['cors']>
  readonly node?: { readonly name?: string }
  readonly postgres?: {
    readonly url: string
    readonly schema?: string
    readonly pool?: number
    readonly timeout?: string
    readonly spool?: string
    readonly accountsMaxAge?: string
  }
  readonly redis?: {
    readonly url: string | readonly string[]
    readonly prefix?: string
    readonly timeout?: string
    readonly sync?: string
    readonly away?: RedisConfig['away']
  }
  readonly alerts?: {
    readonly webhook?: string
    readonly secret?: string
    readonly quota?: readonly string[]
    readonly events?: AlertsConfig['events']
    readonly allowPrivate?: boolean
  }
}

/** All five, by the stems of their names. */
export interface RawConfig {
  readonly networks: { readonly baseUrl: string; readonly networks: Readonly<Record<string, RawNetwork>> }
  readonly routes: {
    readonly routes: readonly RawRoute[]
    readonly errors?: readonly RawErrorRow[]
  }
  readonly methods: {
    readonly notification?: { readonly cost?: number }
    readonly families: Readonly<Partial<Record<Family, RawRules>>>
  }
  readonly plans: { readonly plans: Readonly<Record<string, RawPlan>> }
  readonly gateway?: RawGateway
}

/** The same with any part missing: what is left of files once wrong values are taken out. */
export type Partly<T> = T extends readonly (infer Item)[]
  ? readonly (Partly<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Partly<T[Key]> | undefined }
    : T
