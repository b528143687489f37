/**
 * A machine of its own for a gateway, behind a router that loses packets when a test wants it to, as a partition does: both ways, and nobody hears of
 * it, so that nothing is refused and no connection ends. It takes root on Linux, and `ip`.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Teardown } from './teardown.ts'

/** Where the servers are, by what they are. */
export type Servers = Readonly<Record<'postgres' | 'redis', string>>

/** One machine, with two links: to its clients and its upstreams, and by the router to the servers. */
export interface Island {
  /** Starts a program there. */
  readonly within: readonly string[]
  /** Its address for clients, and this machine's on the same link. */
  readonly address: string
  readonly outside: string
  /** Addresses of this machine that it comes to by the router. */
  readonly servers: Servers
  /** Loses every packet from and to these servers, and none of the others. */
  lose(servers: readonly (keyof Servers)[]): void
}

/** Addresses of one, and blocks of so many in 10.0.0.0/8. */
const SIZE = 8
const BLOCKS = 2 ** 24 / SIZE
/** The router's on both of its links, which no route leads to. */
const ROUTER = '169.254.0.1'

let made = 0

/** Makes one. */
export function makeIsland(t: Teardown): Island {
  made += 1
  // Names of links have at most 15 bytes.
  const id = `${process.pid}-${made}`
  const [machine, router] = [`tollgate-${id}`, `tollgate-${id}-router`]
  const links = { clients: `tc${id}`, servers: `ts${id}` }
  const [address, outside, postgres, redis, inside] = freeAddresses()
  t.teardown(
    undoneAfter([
      ...Object.values(links).map(link => `ip link del ${link}`),
      ...[machine, router].map(name => `ip netns del ${name}`),
    ]),
  )
  ip('netns', 'add', machine)
  ip('netns', 'add', router)
  const addLink = (name: string, namespace: string, peer: string): void => {
    ip('link', 'add', name, 'type', 'veth', 'peer', 'name', peer, 'netns', namespace)
  }
  addLink(links.clients, machine, 'clients')
  addLink(links.servers, router, 'outer')
  ip('-n', router, 'link', 'add', 'inner', 'type', 'veth', 'peer', 'name', 'servers', 'netns', machine)
  const up = (where: readonly string[], link: string, addresses: readonly string[]): void => {
    for (const one of addresses) ip(...where, 'address', 'add', ...one.split(' '), 'dev', link)
    ip(...where, 'link', 'set', link, 'up')
  }
  up([], links.clients, [`${outside} peer ${address}`])
  up([], links.servers, [postgres, redis])
  up(['-n', machine], 'lo', [])
  up(['-n', machine], 'clients', [`${address} peer ${outside}`])
  up(['-n', machine], 'servers', [inside])
  up(['-n', router], 'lo', [ROUTER])
  up(['-n', router], 'outer', [])
  up(['-n', router], 'inner', [])
  for (const server of [postgres, redis]) {
    ip('-n', machine, 'route', 'add', server, 'via', ROUTER, 'dev', 'servers', 'src', inside, 'onlink')
    ip('-n', router, 'route', 'add', server, 'dev', 'outer')
  }
  ip('route', 'add', inside, 'via', ROUTER, 'dev', links.servers, 'onlink')
  ip('-n', router, 'route', 'add', inside, 'dev', 'inner')
  ip('netns', 'exec', router, 'sh', '-c', 'echo 1 >/proc/sys/net/ipv4/ip_forward')
  const servers = { postgres, redis }
  let lost: readonly string[] = []
  return {
    within: ['ip', 'netns', 'exec', machine],
    address,
    outside,
    servers,
    lose: names => {
      const wanted = names.map(name => servers[name])
      const change = (verb: 'add' | 'del', server: string): void => {
        for (const way of ['from', 'to']) ip('-n', router, 'rule', verb, way, server, 'blackhole')
      }
      for (const server of wanted) if (!lost.includes(server)) change('add', server)
      for (const server of lost) if (!wanted.includes(server)) change('del', server)
      lost = wanted
    },
  }
}

/** What is in the way of one here; false where nothing is. `CI` must have `ip`, as it must have the servers. */
export async function noIslands(): Promise<string | false> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'network namespaces take root on Linux'
  const endings: (() => unknown)[] = []
  try {
    makeIsland({ teardown: end => endings.push(end) }).lose(['postgres', 'redis'])
    return false
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      return `network namespaces do not work here: ${(error as Error).message.split('\n').join(' ').trim()}`
    const missing = 'ip is not installed (apt-get install iproute2)'
    if (process.env['CI'] !== undefined) throw new Error(missing, { cause: error })
    return missing
  } finally {
    for (const end of endings) await end()
  }
}

/**
 * Runs these commands once this process has ended, however it does: a shell of its own waits for that, and is told of it by the end of its input. Returns
 * what runs them before.
 */
function undoneAfter(commands: readonly string[]): () => Promise<void> {
  const script = `cat; ${commands.join('; ')}`
  const shell = spawn('sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  const over = once(shell, 'exit')
  shell.unref()
  return async () => {
    shell.ref()
    shell.stdin.end()
    await over
  }
}

/** Addresses that no route of this machine leads to but the default one. */
function freeAddresses(): readonly [string, string, string, string, string] {
  // Every process begins at another block.
  for (let block = (process.pid + made * 65_537) % BLOCKS; ; block = (block + 1) % BLOCKS) {
    const all = Array.from({ length: 5 }, (_, i) => addressOf(block * SIZE + i))
    const isFree = all.every(address => {
      const route = tryIp('route', 'get', 'fibmatch', address)
      return route === null || route.startsWith('default')
    })
    if (isFree) return all as unknown as ReturnType<typeof freeAddresses>
  }
}

function addressOf(n: number): string {
  return `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`
}

function ip(...words: readonly string[]): string {
  return execFileSync('ip', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** What it prints; null where it fails. */
function tryIp(...words: readonly string[]): string | null {
  try {
    return ip(...words)
  } catch {
    return null
  }
}
