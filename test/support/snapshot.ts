import { loadSnapshot } from '../../src/snapshot/load-snapshot.ts'
import type { LoadedSnapshot } from '../../src/snapshot/load-snapshot.ts'
import type { Snapshot } from '../../src/snapshot/types.ts'

/** What makes directories that go away with the test. */
interface Directories {
  testdir(files: Record<string, string>): string
}

const networks = `
baseUrl: http://{subdomain}.example.test
networks:
  eth: { name: Test, family: evm, chainId: 1 }
`
const routes = `
routes:
  - { id: eth-a, network: eth, http: "http://127.0.0.1:1" }
`
const methods = `
notification: { cost: 1 }
families:
  evm:
    eth_call: { block: { at: 1, kind: ref, omitted: latest }, reads: state, params: [1, 4] }
`
const plans = `
plans:
  public: { tiers: [any], rate: { perSecond: 10, burst: 30 }, maxBatch: 20, ws: { connections: 2, subscriptions: 5 } }
  free: { tiers: [any], rate: { perSecond: 25, burst: 50 }, maxBatch: 100, ws: { connections: 5, subscriptions: 20 } }
  paid: { tiers: [any, paid], rate: { perSecond: 500, burst: 1000 }, maxBatch: 1000, ws: { connections: 5, subscriptions: 20 } }
`

/** YAML in place of the smallest valid configuration's. */
export interface Yaml {
  readonly networks?: string
  readonly routes?: string
  readonly methods?: string
  readonly plans?: string
  readonly gateway?: string
}

/** Loads a small configuration from real files. */
export function load(t: Directories, yaml: Yaml = {}): Promise<LoadedSnapshot> {
  const dir = t.testdir({
    'networks.yaml': yaml.networks ?? networks,
    'routes.yaml': yaml.routes ?? routes,
    'methods.yaml': yaml.methods ?? methods,
    'plans.yaml': yaml.plans ?? plans,
    ...(yaml.gateway === undefined ? {} : { 'gateway.yaml': yaml.gateway }),
  })
  return loadSnapshot(dir, {})
}

/** The snapshot of a small configuration; its problems are the test's failure. */
export async function snapshotOf(t: Directories, yaml: Yaml = {}): Promise<Snapshot> {
  const { snapshot, problems } = await load(t, yaml)
  if (snapshot === null) throw new Error(JSON.stringify(problems, null, 2))
  return snapshot
}
