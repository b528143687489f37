/** Machines whose way to the servers can lose every packet: a network namespace each, as root on Linux alone. */
import { execFileSync } from 'node:child_process'
import type { Teardown } from './teardown.ts'

/** Drops whatever is longer than a byte. */
const LOSE = ['root', 'tbf', 'rate', '8bit', 'burst', '1', 'limit', '1']

/** One machine, on two links: to its clients, and to PostgreSQL and Redis. */
export interface Island {
  /** Starts a program there. */
  readonly within: readonly string[]
  /** Its own address on the clients' link. */
  readonly address: string
  /** The address at which it finds the servers. */
  readonly servers: string
  /** Whether packets between it and the servers are lost, both ways: nothing is refused, and nobody hears of it. */
  set isCut(cut: boolean)
}

let made = 0

/** Makes one. */
export function makeIsland(t: Teardown): Island {
  made += 1
  // Names of links have at most 15 bytes; addresses are in the ranges for documentation and for benchmarks, which nobody uses.
  const id = `${process.pid % 100_000}-${made}`
  const name = `tollgate-${id}`
  const third = (process.pid + made) % 256
  const ways = { clients: `198.18.${third}`, servers: `198.19.${third}` }
  ip('netns', 'add', name)
  t.teardown(() => {
    ip('netns', 'del', name)
  })
  for (const [kind, subnet] of Object.entries(ways)) {
    const [here, there] = [`t${kind[0]}${id}`, `n${kind[0]}${id}`]
    ip('link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', name)
    ip('address', 'add', `${subnet}.1/24`, 'dev', here)
    ip('link', 'set', here, 'up')
    ip('-n', name, 'address', 'add', `${subnet}.2/24`, 'dev', there)
    ip('-n', name, 'link', 'set', there, 'up')
  }
  ip('-n', name, 'link', 'set', 'lo', 'up')
  const within = ['ip', 'netns', 'exec', name]
  return {
    within,
    address: `${ways.clients}.2`,
    servers: `${ways.servers}.1`,
    set isCut(cut: boolean) {
      const change = cut ? ['add', ...LOSE] : ['del', 'root']
      const verb = ['qdisc', change[0]!, 'dev']
      run('tc', [...verb, `ts${id}`, ...change.slice(1)])
      run('tc', ['-n', name, ...verb, `ns${id}`, ...change.slice(1)])
    },
  }
}

/** Why there can be none here; false where there can. */
export function noIslands(): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'network namespaces take root on Linux'
  const endings: (() => unknown)[] = []
  try {
    const island = makeIsland({ teardown: end => endings.push(end) })
    island.isCut = true
    island.isCut = false
    return false
  } catch (error) {
    return `network namespaces, or losing packets in them, do not work here: ${(error as Error).message.split('\n')[0]!}`
  } finally {
    for (const end of endings) end()
  }
}

function ip(...words: readonly string[]): void {
  run('ip', words)
}

function run(command: string, words: readonly string[]): void {
  execFileSync(command, words, { stdio: 'ignore' })
}
