import { Child, cleanEnvironment, type Exit } from './child.ts'
import { writeConfig, type ConfigOptions } from './config-files.ts'
import { get, send, type ByteReply } from './http.ts'
import { mainFile, nodeFile } from './paths.ts'
import type { Teardown } from './teardown.ts'
import { tempDir } from './temp-dir.ts'
import { until } from './until.ts'

/** Milliseconds that a start may take: where other tests run beside it, that of several processes takes long. */
const START = 60_000

interface ReadyLine {
  readonly listen: string
  readonly admin: string
  readonly probes?: string
}

/** The gateway as it really runs: a process that is started, stopped, killed and started again on one directory. */
export class Gateway {
  readonly dir: string
  readonly #env: Record<string, string>
  readonly #within: readonly string[]
  #child: Child | undefined
  #ready: ReadyLine | undefined
  /** What earlier lives have printed. */
  #before = ''

  /** `within` is a command that starts the program somewhere else, with its arguments. */
  constructor(dir: string, env: Readonly<Record<string, string>>, within: readonly string[] = []) {
    this.dir = dir
    this.#env = cleanEnvironment(env)
    this.#within = within
  }

  /** The port of the public listener. */
  get port(): number {
    return portOf(this.#bound().listen)
  }

  /** The public listener, without a trailing slash. */
  get url(): string {
    return urlOf(this.#bound().listen)
  }

  /** The admin listener, without a trailing slash. */
  get adminUrl(): string {
    return urlOf(this.#bound().admin)
  }

  /** The probes listener, without a trailing slash; one must be configured. */
  get probesUrl(): string {
    return `http://127.0.0.1:${portOf(this.#bound().probes ?? '')}`
  }

  get pid(): number {
    return this.#running().pid
  }

  /** Everything printed in all its lives, both streams. */
  get printed(): string {
    return this.#before + (this.#child?.stdout ?? '') + (this.#child?.stderr ?? '')
  }

  /** Starts the process and awaits its `ready`; `env` is more of its environment, for this life alone. */
  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#before = this.printed
    this.#child = serve(this.dir, { ...this.#env, ...env }, this.#within)
    this.#ready = await this.#child.output('ready', findReady, START)
  }

  /** SIGTERM, and how it ended. */
  async stop(): Promise<Exit> {
    return this.#running().stop('SIGTERM')
  }

  /** SIGKILL, and gone. */
  async kill9(): Promise<void> {
    await this.#running().stop('SIGKILL')
  }

  /** Sends a signal without waiting for the end. */
  signal(signal: NodeJS.Signals): void {
    this.#running().signal(signal)
  }

  /** How the present life ends. */
  get exited(): Promise<Exit> {
    return this.#running().exited
  }

  /** One request to the public listener. */
  async send(options: Parameters<typeof send>[1]): Promise<ByteReply> {
    return send(this.port, { host: new URL(this.url).hostname, ...options })
  }

  /** The admin listener's view of networks and routes. */
  async status(): Promise<any> {
    return JSON.parse((await get(`${this.adminUrl}/status`)).text)
  }

  /** Resolves when the gateway knows a head of this network. */
  async headKnown(slug: string): Promise<void> {
    await until(`the head of ${slug} is known`, async () => {
      const { networks } = await this.status()
      const known: boolean = networks.some((network: any) => network.slug === slug && network.head !== null)
      return known
    })
  }

  #running(): Child {
    if (this.#child === undefined) throw new Error('the gateway was never started')
    return this.#child
  }

  #bound(): ReadyLine {
    if (this.#ready === undefined) throw new Error('the gateway was never ready')
    return this.#ready
  }
}

/** Runs `serve` on a directory, without waiting for anything. */
export function serve(
  dir: string,
  env: Record<string, string> = cleanEnvironment(),
  within: readonly string[] = [],
): Child {
  const [command, ...args] = [...within, nodeFile, mainFile, 'serve', '--config', dir]
  return new Child(command, args, env)
}

/** The `ready` line of a gateway, as soon as it is printed. */
export function findReady({ stdout, stderr }: Child): ReadyLine | undefined {
  for (const line of `${stdout}\n${stderr}`.split('\n')) {
    if (!line.includes('"ready"') || !line.endsWith('}')) continue
    const entry = JSON.parse(line) as ReadyLine & { msg: string }
    if (entry.msg === 'ready') return entry
  }
  return undefined
}

/** Of the address of a listener, and of loopback where it is any. */
function urlOf(address: string): string {
  return `http://${address.replace('0.0.0.0', '127.0.0.1')}`
}

function portOf(address: string): number {
  return Number(new URL(`http://${address}`).port)
}

/** What a test may decide about its gateway besides the configuration. */
export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>
  /** A command that starts the program somewhere else, with its arguments. */
  readonly within?: readonly string[]
}

/** Writes a configuration and prepares a gateway on it that is not started yet. */
export async function prepareGateway(
  t: Teardown,
  config: ConfigOptions,
  options: StartOptions = {},
): Promise<Gateway> {
  const dir = await tempDir(t)
  await writeConfig(dir, config)
  const gateway = new Gateway(dir, options.env ?? {}, options.within)
  t.teardown(() => gateway.kill9().catch(() => undefined))
  return gateway
}

/** Writes a configuration and starts a gateway on it that ends with the test. */
export async function startGateway(
  t: Teardown,
  config: ConfigOptions,
  options: StartOptions = {},
): Promise<Gateway> {
  const gateway = await prepareGateway(t, config, options)
  await gateway.start()
  return gateway
}
