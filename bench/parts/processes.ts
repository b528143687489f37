import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Child } from '../../test/support/child.ts'

/** A started process and where it listens. */
export interface Started {
  readonly pid: number
  /** `host:port`. */
  readonly listen: string
  /** `host:port` of the gateway's admin listener; absent for the others. */
  readonly admin?: string
}

/** This build. */
const OWN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** The processes of one benchmark, all on the loopback; `stop` ends exactly those. */
export class Processes {
  readonly #dir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  readonly #children: Child[] = []
  readonly #main: string

  /** `main` is the program of the gateway. */
  constructor(main = OWN) {
    this.#main = main
  }

  /** Starts one of bench/parts. */
  part(name: string, env: Record<string, string> = {}): Promise<Started> {
    return this.#start(['--import=tsx', fileURLToPath(new URL(`${name}.ts`, import.meta.url))], env)
  }

  /** Starts the built gateway on a configuration; `node` are arguments for Node itself. */
  gateway(
    files: Readonly<Record<string, string>>,
    node: readonly string[] = [],
    env: Record<string, string> = {},
  ): Promise<Started> {
    this.write(files)
    return this.#start([...node, this.#main, 'serve', '--config', this.#dir], env)
  }

  /** Where that gateway keeps its data. */
  get dataDir(): string {
    return join(this.#dir, 'data')
  }

  /** Writes files of the gateway's configuration. */
  write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.#dir, name), text)
  }

  /** Makes an account on that configuration; returns the key of its first endpoint. */
  async key(plan: string): Promise<string> {
    const args = [this.#main, 'account', 'create', 'bench', '--plan', plan, '--config', this.#dir, '--json']
    const child = new Child(process.execPath, args, { PATH: process.env['PATH'] ?? '' })
    const { code } = await child.exited
    if (code !== 0) throw new Error(`no account could be made: ${child.stderr}`)
    return (JSON.parse(child.stdout) as { endpoint: { apiKey: string } }).endpoint.apiKey
  }

  /** What a process has printed so far. */
  printed(pid: number): string {
    return this.#children.find(child => child.pid === pid)?.stdout ?? ''
  }

  async stop(): Promise<void> {
    for (const child of this.#children) await child.stop('SIGTERM')
    rmSync(this.#dir, { recursive: true, force: true })
  }

  async #start(args: readonly string[], env: Record<string, string> = {}): Promise<Started> {
    const child = new Child(process.execPath, args, { PATH: process.env['PATH'] ?? '', ...env })
    this.#children.push(child)
    const ready = (): string | undefined =>
      child.stdout.split('\n').find(line => line.includes('"ready"') && line.endsWith('}'))
    const { listen, admin } = JSON.parse(await child.output('ready', ready)) as Omit<Started, 'pid'>
    return { pid: child.pid, listen, ...(admin === undefined ? {} : { admin }) }
  }
}

/**
 * The smallest configuration in front of one upstream, with a public route: no limit gets in the way of what is measured. Up to `batch` calls of a
 * client's batch go in one body.
 */
export function configFor(upstream: string, batch = 1): Record<string, string> {
  const several = batch === 1 ? '' : `, batch: ${batch}`
  return {
    'networks.yaml':
      'baseUrl: http://127.0.0.1:1/{slug}\nnetworks: { eth: { name: Bench, family: evm, chainId: 1, public: true } }',
    'routes.yaml': `routes: [{ id: a, network: eth, http: "http://${upstream}", ws: "ws://${upstream}"${several} }]`,
    'methods.yaml': `
families:
  evm:
    eth_chainId: { answer: chainId }
    eth_call: { retry: safe, params: [1, 4], block: { at: 1, kind: ref, omitted: latest }, reads: state }
    eth_subscribe: { needs: [ws], subscribe: eth_unsubscribe }`,
    'plans.yaml': `
plans:
  bench: { tiers: [any], rate: &rate { perSecond: 1000000, burst: 1000000 }, quota: { requests: 1000000000, every: month }, maxBatch: 1000, ws: &ws { connections: 100000, subscriptions: 100000 } }
  public: { tiers: [any], rate: *rate, maxBatch: 1000, ws: *ws }`,
    'gateway.yaml':
      'listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nlimits: { connections: 100000, connectionsPerAddress: 100000 }',
  }
}
