import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Access } from '../../support/access.ts'
import { bind } from '../../support/bind.ts'
import { createAccess, withAccounts } from '../../support/accounts.ts'
import type { PlanYaml } from '../../support/config-files.ts'
import { prepareGateway, type Gateway } from '../../support/gateway.ts'
import { get } from '../../support/http.ts'
import { routesLookedAt } from '../../support/route-status.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { MEMORY_MIB } from './bounds.ts'
import type { BystanderReport, Life } from './bystander.ts'
import type { Stall } from './clock.ts'
import { Helper } from './helper.ts'
import { startNodes, type Nodes } from './nodes.ts'

/** Of alpha-a, alpha-b, alpha-c, sol-a, sol-b: the last of each network serves only while the others cannot. */
const PRIORITIES = [1, 1, 2, 1, 2]

/** The core of the gateway, and that of all others. */
const MEASURED = 1
const LOAD = 0

/** The plans of the shipped configuration, and one for the bystander, whose rate is never the reason of a refusal. */
const plans: Readonly<Record<string, PlanYaml>> = {
  public: {
    tiers: ['any'],
    rate: { perSecond: 10, burst: 30 },
    maxBatch: 20,
    ws: { connections: 2, subscriptions: 5 },
  },
  free: {
    tiers: ['any'],
    rate: { perSecond: 25, burst: 50 },
    maxBatch: 100,
    ws: { connections: 5, subscriptions: 20 },
  },
  paid: {
    tiers: ['any', 'paid'],
    rate: { perSecond: 500, burst: 1000 },
    maxBatch: 1000,
    ws: { connections: 100, subscriptions: 1000 },
  },
  good: {
    tiers: ['any', 'paid'],
    rate: { perSecond: 5000, burst: 10000 },
    maxBatch: 1000,
    ws: { connections: 100, subscriptions: 1000 },
  },
}

/** What an attack gets: where the gateway is, and what an attacker owns. Plain data, as it goes to another process. */
export interface Target {
  readonly port: number
  readonly adminPort: number
  /** Paths of the attackers' keys, by plan, of the public route, and of a key of the bystander's account that lets in no attacker. */
  readonly paths: Readonly<
    Record<'free' | 'paid' | 'public' | 'denied' | 'solanaPaid' | 'solanaPublic', string>
  >
}

/** What a stage may have besides the usual. */
export interface StageOptions {
  /** Done to the data directory while the gateway is not running, before the scenarios. */
  readonly stock?: (gateway: Gateway, attacker: Access) => Promise<void> | void
  /** Good calls a second. */
  readonly perSecond?: number
  /** `limits.memory` in MiB. */
  readonly memory?: number
}

/** The real gateway with its nodes, an attacker and a bystander, all but the nodes in processes of their own. */
export class Stage {
  readonly nodes: Nodes
  readonly gateway: Gateway
  /** Keys of accounts that mean harm. */
  readonly paid: Access
  readonly free: Access
  /** The bystander's own account. */
  readonly good: Access
  readonly #bystander = new Helper('bystander-process.ts')
  readonly #attacker = new Helper('attacker-process.ts')
  readonly #files: { readonly loop: string; readonly clock: string }
  readonly #perSecond: number

  constructor(parts: {
    nodes: Nodes
    gateway: Gateway
    accesses: readonly [Access, Access, Access]
    files: { readonly loop: string; readonly clock: string }
    perSecond: number
  }) {
    ;[this.good, this.paid, this.free] = parts.accesses
    this.nodes = parts.nodes
    this.gateway = parts.gateway
    this.#files = parts.files
    this.#perSecond = parts.perSecond
  }

  /** The attackers' view. */
  get target(): Target {
    const { gateway, paid, free } = this
    return {
      port: gateway.port,
      adminPort: Number(new URL(gateway.adminUrl).port),
      paths: {
        paid: paid.path,
        free: free.path,
        public: '/alpha/v1/rpc/public',
        denied: this.#denied,
        solanaPaid: this.solana(paid).path,
        solanaPublic: '/sol/v1/rpc/public',
      },
    }
  }

  /** The way into the Solana network of the account that an access is of. */
  solana(access: Access): Access {
    return this.#solana.get(access)!
  }

  readonly #solana = new Map<Access, Access>()
  #denied = ''

  /** Gives each account an endpoint on Solana too. */
  async addSolana(): Promise<void> {
    for (const access of [this.good, this.paid, this.free])
      this.#solana.set(access, await endpointOn(access, 'sol'))
  }

  /** Gives the bystander's account a key that only a strange address may use. */
  async addDenied(): Promise<void> {
    const denied = await endpointOn(this.good, 'alpha')
    const change = { endpointId: denied.endpointId, allowedIps: ['203.0.113.7'] }
    await this.good.managed('service_updateEndpoint', [change])
    this.#denied = denied.path
  }

  /** Runs an attack of test/isolation/attacks in the attacker's process. */
  async attack<T = unknown>(file: string, attack: string, options: object = {}): Promise<T> {
    return this.#attacker.ask('run', { file, attack, target: this.target, options }) as Promise<T>
  }

  /** Lets the bystander begin. */
  async startBystander(): Promise<void> {
    const life: Life = {
      port: this.gateway.port,
      path: this.good.path,
      solanaPath: this.solana(this.good).path,
      recentBlock: `0x${(this.nodes.head - 2).toString(16)}`,
      perSecond: this.#perSecond,
      heads: true,
    }
    await this.#bystander.ask('start', life)
  }

  /** Names what the bystander sees from now on. */
  async phase(name: string): Promise<void> {
    await this.#bystander.ask('phase', name)
  }

  /** Lets the bystander end, and gives what it saw. */
  async reportOfBystander(lastHead: number | null): Promise<BystanderReport> {
    return this.#bystander.ask('report', { lastHead }) as Promise<BystanderReport>
  }

  /** The long turns of the gateway's event loop since a moment: how long each was busy, and when it had no CPU. */
  async turns(from: number): Promise<{ readonly busy: number[]; readonly starved: Stall[] }> {
    const text = await readFile(this.#files.loop, 'utf8').catch(() => '')
    const rows = text
      .split('\n')
      .map(line => line.split(' ').map(Number))
      .filter((row): row is [number, number, number] => row.length === 3 && row[0]! >= from)
    return {
      busy: rows.map(([, busy]) => busy),
      starved: rows.map(([begin, , starved]) => [begin, begin + starved]),
    }
  }

  /** Steps the gateway's wall clock. */
  async stepClock(ms: number): Promise<void> {
    await writeFile(this.#files.clock, String(ms))
  }

  /** Whether the gateway's process lives and serves. */
  async alive(): Promise<boolean> {
    return get(`${this.gateway.adminUrl}/livez`).then(
      ({ status }) => status === 200,
      () => false,
    )
  }

  get attackerPid(): number {
    return this.#attacker.pid
  }

  /** Ends its processes. */
  async end(): Promise<void> {
    await Promise.all([this.#bystander.end(), this.#attacker.end()])
  }
}

/** Makes one more endpoint of an account. */
export async function endpointOn(access: Access, network: string): Promise<Access> {
  return withAccounts(access.gateway, async store => {
    const endpoint = await store.endpoints.create({ accountId: access.accountId, network })
    if (typeof endpoint === 'string') throw new Error(`no endpoint on ${network}: ${endpoint}`)
    return new Access(access.gateway, network, endpoint.apiKey, endpoint.id, access.accountId)
  })
}

/** What is to be ended, in the reverse order of its start. */
export class Ending {
  readonly #handlers: (() => unknown)[] = []

  teardown(handler: () => unknown): void {
    this.#handlers.push(handler)
  }

  async end(): Promise<void> {
    for (const handler of this.#handlers.splice(0).reverse())
      try {
        await handler()
      } catch {
        // What has ended by itself needs no ending.
      }
  }
}

/** Starts everything. */
export async function openStage(t: Ending, options: StageOptions = {}): Promise<Stage> {
  const nodes = await startNodes(t)
  const dir = await tempDir(t)
  const files = { loop: join(dir, 'loop'), clock: join(dir, 'clock') }
  const preload = fileURLToPath(new URL('inside.mjs', import.meta.url))
  const routes = nodes.all.map((node, i) => ({
    id: ['alpha-a', 'alpha-b', 'alpha-c', 'sol-a', 'sol-b'][i]!,
    network: i < 3 ? 'alpha' : 'sol',
    priority: PRIORITIES[i]!,
    http: node.url,
    ws: node.wsUrl,
    capabilities: i < 3 ? ['trace', 'debug', 'txpool'] : [],
  }))
  const gateway = await prepareGateway(
    t,
    {
      networks: {
        // An attack with these is as heavy as one with calls that differ.
        alpha: {
          chainId: 1001,
          public: true,
          methods: { eth_call: { share: false }, eth_getCode: { share: false } },
        },
        sol: { family: 'solana', chainId: 'solana-test', genesisHash: '7'.repeat(32), public: true },
      },
      routes,
      plans,
      // Above the 10 000 sockets that one scenario holds open.
      gateway: { limits: { memory: `${options.memory ?? MEMORY_MIB}MiB`, connections: 12_000 } },
    },
    {
      env: {
        NODE_OPTIONS: `--import=${preload}`,
        TEST_LOOP_FILE: files.loop,
        TEST_CLOCK_FILE: files.clock,
      },
    },
  )
  await gateway.start()
  const accesses = [
    await createAccess(gateway, 'good', 'alpha'),
    await createAccess(gateway, 'paid', 'alpha'),
    await createAccess(gateway, 'free', 'alpha'),
  ] as const
  if (options.stock !== undefined) {
    await gateway.stop()
    await options.stock(gateway, accesses[1])
    await gateway.start()
  }
  const stage = new Stage({ nodes, gateway, accesses, files, perSecond: options.perSecond ?? 50 })
  bind(gateway.pid, MEASURED)
  // What the bystander notices is to be the gateway's doing: it runs where there is room.
  for (const pid of [process.pid, stage.attackerPid]) bind(pid, LOAD)
  t.teardown(() => stage.end())
  await stage.addSolana()
  await stage.addDenied()
  await routesLookedAt(gateway)
  return stage
}
