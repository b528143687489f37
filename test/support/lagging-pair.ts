import { keccak256 } from 'ethers'
import type { Handler } from './node-replies.ts'
import { result } from './node-replies.ts'
import { startNode, type ScriptedNode } from './scripted-node.ts'
import type { Teardown } from './teardown.ts'

const hex = (value: number): string => `0x${value.toString(16)}`

/** A transaction that is always in a node's newest block, so that its receipt shows how far the node has come. */
export const inNewest = `0x${'ff'.repeat(32)}`

/** A transaction that a node has taken. */
interface Taken {
  /** Its block; null while it is pending. */
  block: number | null
}

/**
 * Two nodes of one chain that do not hear of each other until the test lets them: which of them takes a transaction mines it at once, or
 * when it is told to. What a node answers to reads is its own newest block.
 */
export class LaggingPair {
  readonly nodes: readonly [ScriptedNode, ScriptedNode]
  readonly #known = new Map<ScriptedNode, Map<string, Taken>>()

  constructor(nodes: readonly [ScriptedNode, ScriptedNode]) {
    this.nodes = nodes
    for (const node of nodes) {
      this.#known.set(node, new Map())
      node.on('eth_sendRawTransaction', this.#take(node))
      for (const method of ['eth_getTransactionReceipt', 'eth_getTransactionByHash'])
        node.on(method, this.#show(node, method === 'eth_getTransactionReceipt'))
      for (const method of ['eth_getBalance', 'eth_call'])
        node.on(method, (request, response) => result(`"${hex(node.head)}"`)(request, response))
      node.on('eth_getTransactionCount', (request, response) => {
        const isPending = request.params.includes('pending')
        const waiting = isPending ? this.pending(node) : 0
        return result(`"${hex(node.head + waiting)}"`)(request, response)
      })
      node.on('eth_getLogs', (request, response) =>
        result(`[{"blockNumber":"${hex(node.head)}"}]`)(request, response),
      )
    }
  }

  /** Transactions that wait in a node's pool. */
  pending(node: ScriptedNode): number {
    return [...this.#known.get(node)!.values()].filter(({ block }) => block === null).length
  }

  /** The one whose pool is not empty puts what is in it into a block. */
  mine(): void {
    for (const node of this.nodes)
      for (const taken of this.#known.get(node)!.values()) taken.block ??= node.head += 1
  }

  /** Both know what either knows. */
  gossip(): void {
    const head = Math.max(...this.nodes.map(node => node.head))
    for (const node of this.nodes) {
      node.head = head
      this.#known.get(node)!.clear()
    }
  }

  #take(node: ScriptedNode): Handler {
    return (request, response) => {
      const [raw] = JSON.parse(request.params) as [string]
      const hash = keccak256(raw)
      this.#known.get(node)!.set(hash, { block: null })
      return result(`"${hash}"`)(request, response)
    }
  }

  #show(node: ScriptedNode, isReceipt: boolean): Handler {
    return (request, response) => {
      const [hash] = JSON.parse(request.params) as [string]
      const taken = hash === inNewest ? { block: node.head } : this.#known.get(node)!.get(hash)
      if (taken === undefined || (isReceipt && taken.block === null)) return result('null')(request, response)
      const blockNumber = taken.block === null ? null : hex(taken.block)
      const member = isReceipt ? 'transactionHash' : 'hash'
      return result(JSON.stringify({ [member]: hash, blockNumber }))(request, response)
    }
  }
}

/** Starts a pair that ends with the test. */
export async function startLaggingPair(t: Teardown, chainId: number): Promise<LaggingPair> {
  return new LaggingPair([await startNode(t, { chainId }), await startNode(t, { chainId })])
}
