import { startAnvil, type Anvil } from './anvil.ts'
import type { Teardown } from './teardown.ts'

/** Seconds since the Unix epoch at which every pair begins. */
const genesis = 1_760_000_000

/** Two real nodes that are one chain: started alike, they are told the same in the same order. */
export class LockstepAnvils {
  readonly a: Anvil
  readonly b: Anvil
  #down = false
  #blocks = 0

  constructor(a: Anvil, b: Anvil) {
    this.a = a
    this.b = b
  }

  /** Sends raw transactions to both pools; nothing is mined. Gives their hashes. */
  async send(...raw: readonly string[]): Promise<string[]> {
    const hashes: string[] = []
    for (const one of raw) {
      const replies = await this.#both('eth_sendRawTransaction', [one])
      const { result, error } = replies[0]
      if (result === undefined) throw new Error(`refused: ${JSON.stringify(error)}`)
      hashes.push(String(result))
    }
    return hashes
  }

  /** Mines what is in the pools into one block, the same on both, and gives its hash. */
  async mine(): Promise<string> {
    this.#blocks++
    await this.#both('evm_setNextBlockTimestamp', [genesis + 12 * this.#blocks])
    await this.#both('evm_mine', [])
    const heads = await this.#both('eth_getBlockByNumber', ['latest', false])
    const hashes = new Set(heads.map(({ result }) => String(result.hash)))
    if (hashes.size !== 1) throw new Error(`the nodes went apart: ${[...hashes].join(' and ')}`)
    return [...hashes][0]!
  }

  /** Kills the first one; what is mined from then on it never sees. */
  killFirst(): void {
    this.#down = true
    process.kill(this.a.pid, 'SIGKILL')
  }

  async #both(method: string, params: unknown): Promise<any[]> {
    const nodes = this.#down ? [this.b] : [this.a, this.b]
    const replies: unknown[] = []
    for (const node of nodes) replies.push(await node.call(method, params))
    return replies
  }
}

/** The WebSocket URL of a node. */
export function anvilSocketUrl({ url }: Anvil): string {
  return url.replace('http:', 'ws:')
}

/** Starts a pair that ends with the test. */
export async function startLockstepAnvils(
  t: Teardown,
  args: readonly string[] = [],
): Promise<LockstepAnvils> {
  const alike = ['--timestamp', String(genesis), '--no-mining', ...args]
  const [a, b] = await Promise.all([startAnvil(t, alike), startAnvil(t, alike)])
  return new LockstepAnvils(a, b)
}
