import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { shippedMethodsText } from './shipped-methods.ts'

/** A network as networks.yaml writes it. */
export interface NetworkYaml {
  readonly name?: string
  readonly family?: 'evm' | 'solana' | 'http' | 'jsonrpc'
  readonly chainId: number | string
  readonly [key: string]: unknown
}

/** A route as routes.yaml writes it. */
export interface RouteYaml {
  readonly id: string
  readonly network: string
  readonly http: string
  readonly capabilities?: readonly string[]
  readonly [key: string]: unknown
}

/** A plan as plans.yaml writes it. */
export interface PlanYaml {
  readonly tiers: readonly string[]
  readonly rate?: { readonly perSecond: number; readonly burst: number }
  readonly quota?: { readonly requests: number; readonly every: string }
  readonly maxBatch?: number
  readonly alerts?: { readonly quota: readonly string[] }
  readonly ws?: { readonly connections: number; readonly subscriptions: number }
  readonly management?: { readonly keys: 'all' | 'first' | 'none' }
}

/** A whole configuration; what is left out is what most tests want. */
export interface ConfigOptions {
  /** Default: the host form under a name that exists nowhere. */
  readonly baseUrl?: string
  readonly networks: Readonly<Record<string, NetworkYaml>>
  readonly routes: readonly RouteYaml[]
  /** The text of methods.yaml; default: the shipped rules. */
  readonly methods?: string
  /** Laid over the default plans. */
  readonly plans?: Readonly<Record<string, PlanYaml>>
  /** Laid over `listen` and `admin` on free ports and quiet logs. */
  readonly gateway?: Readonly<Record<string, unknown>>
}

const ample = { rate: { perSecond: 100_000, burst: 100_000 }, ws: { connections: 50, subscriptions: 100 } }

/** Plans that never stand in the way. */
export const amplePlans: Readonly<Record<string, PlanYaml>> = {
  public: { tiers: ['any'], maxBatch: 20, ...ample },
  free: { tiers: ['any'], maxBatch: 100, ...ample },
  paid: { tiers: ['any', 'paid'], maxBatch: 100, ...ample },
}

/** Every capability that the shipped methods ask for, WebSocket apart. */
export const allCapabilities: readonly string[] = ['archive', 'trace', 'debug', 'txpool']

/** The host on which a network of the default base URL is served. */
export function hostOf(slug: string): string {
  return `${slug}-rpc.example.test`
}

/** `WORKERS=2` has every gateway that a test starts serve with as many processes. */
const several = process.env['WORKERS'] === undefined ? {} : { workers: Number(process.env['WORKERS']) }

/** Writes the five files. */
export async function writeConfig(dir: string, options: ConfigOptions): Promise<void> {
  const networks = Object.entries(options.networks).map(([slug, network]) => [
    slug,
    { name: `Network ${slug}`, family: 'evm', ...network },
  ])
  const files: Record<string, string> = {
    'networks.yaml': stringify({
      baseUrl: options.baseUrl ?? 'http://{subdomain}.example.test',
      networks: Object.fromEntries(networks) as unknown,
    }),
    'routes.yaml': stringify({ routes: options.routes }),
    'methods.yaml': options.methods ?? (await shippedMethodsText()),
    'plans.yaml': stringify({ plans: { ...amplePlans, ...options.plans } }),
    'gateway.yaml': stringify({
      listen: '127.0.0.1:0',
      admin: '127.0.0.1:0',
      ...several,
      ...options.gateway,
    }),
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text)
}
