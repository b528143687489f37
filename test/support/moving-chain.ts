import { createHash } from 'node:crypto'
import { error, result, type Handler } from './node-replies.ts'
import type { ScriptedNode } from './scripted-node.ts'

/** Blocks by which a reorganization goes back at most; what is deeper is final. */
export const deepest = 5

/** A chain that moves and is reorganized, as a function of the calls about it: the same call at the same moment has one answer. */
export class MovingChain {
  head: number
  /** How often the block at a height has been replaced. */
  readonly #replaced = new Map<number, number>()
  /** Every hash there ever was, of orphans too. */
  readonly #numbers = new Map<string, number>()
  readonly #first: number

  constructor(head: number) {
    this.#first = head - 64
    this.head = this.#first
    while (this.head < head) this.mine()
  }

  mine(): void {
    this.head += 1
    this.#numbers.set(this.hashAt(this.head), this.head)
  }

  /** Replaces the newest blocks and adds one. */
  reorganize(depth: number): void {
    for (let number = this.head - depth + 1; number <= this.head; number += 1) {
      this.#replaced.set(number, (this.#replaced.get(number) ?? 0) + 1)
      this.#numbers.set(this.hashAt(number), number)
    }
    this.mine()
  }

  hashAt(number: number): string {
    return hashOf(`${number} ${this.#replaced.get(number) ?? 0}`)
  }

  /** Hash of a transaction: the n-th of the height, whichever block is there. */
  transaction(number: number, n: number): string {
    return hashOf(`transaction ${number} ${n}`)
  }

  get hashes(): readonly string[] {
    return [...this.#numbers.keys()]
  }

  /** The raw result of a call, or null where nodes have an error. */
  answer(method: string, raw: string): string | null {
    const params = JSON.parse(raw) as any[]
    // White space means nothing to a node.
    const text = JSON.stringify(params)
    switch (method) {
      case 'eth_blockNumber':
        return `"0x${this.head.toString(16)}"`
      case 'eth_getBlockByNumber':
        return this.#block(this.#numberOf(params[0]))
      case 'eth_getBlockByHash':
        return this.#byHash(params[0])
      case 'eth_getTransactionReceipt':
      case 'eth_getTransactionByHash':
        return this.#transaction(params[0])
      case 'eth_getLogs':
        return this.#logs(params[0], text)
      case 'web3_sha3':
        return `"${hashOf(text)}"`
      case 'eth_call':
        return text.includes('dead') ? null : this.#state(params)
      case 'eth_getBalance':
        return this.#state(params)
      default:
        return `"${hashOf(`${method} ${this.head}`)}"`
    }
  }

  /** What an account or a contract says of the state at a block. */
  #state([what, at]: readonly unknown[]): string {
    const block = this.#hashOf(at)
    return block === null ? 'null' : `"${hashOf(`${JSON.stringify(what)} ${block}`)}"`
  }

  /** The number that a quantity or a tag means; null above the head. */
  #numberOf(block: unknown): number | null {
    if (block === undefined || block === null || block === 'latest' || block === 'pending') return this.head
    if (block === 'earliest') return this.#first
    const number = Number(block)
    return number > this.head ? null : number
  }

  #hashOf(block: any): string | null {
    if (typeof block === 'object' && block !== null) return String(block.blockHash ?? block.blockNumber)
    const number = this.#numberOf(block)
    return number === null ? null : this.hashAt(number)
  }

  #block(number: number | null): string {
    if (number === null) return 'null'
    return `{"hash":"${this.hashAt(number)}","number":"0x${number.toString(16)}", "big":18446744073709551615,"n":1.0}`
  }

  #byHash(hash: string): string {
    const number = this.#numbers.get(hash)
    return number === undefined ? 'null' : `{"number":"0x${number.toString(16)}","hash":"${hash}"}`
  }

  #transaction(hash: string): string {
    for (let number = this.#first; number <= this.head + 2; number += 1)
      for (let n = 0; n < 2; n += 1)
        if (this.transaction(number, n) === hash) {
          if (number > this.head + 1) return 'null'
          if (number > this.head) return `{"hash":"${hash}","blockNumber":null}`
          return `{"blockHash":"${this.hashAt(number)}","hash":"${hash}","blockNumber":"0x${number.toString(16)}"}`
        }
    return 'null'
  }

  #logs(filter: any, text: string): string {
    if (filter.blockHash !== undefined) {
      const at = this.#numbers.get(filter.blockHash)
      return at === undefined ? '[]' : `[{"blockNumber":"0x${at.toString(16)}","of":"${hashOf(text)}"}]`
    }
    const from = this.#numberOf(filter.fromBlock) ?? Infinity
    const to = Math.min(this.#numberOf(filter.toBlock) ?? this.head, this.head)
    const logs: string[] = []
    for (let number = from; number <= to; number += 1)
      if (number % 3 === 0)
        logs.push(
          `{"blockNumber":"0x${number.toString(16)}","blockHash":"${this.hashAt(number)}","of":"${hashOf(text)}"}`,
        )
    return `[${logs.join(', ')}]`
  }
}

/** Has a node answer every call with what the chain says. */
export function answerFrom(chain: MovingChain, node: ScriptedNode): void {
  const reverted = error('{"code":3,"message":"execution reverted: dead","data":"0xdead"}')
  const handler: Handler = (request, response) => {
    const said = chain.answer(request.method ?? '', request.params === '' ? '[]' : request.params)
    return (said === null ? reverted : result(said))(request, response)
  }
  node.otherwise(handler)
  for (const method of ['eth_blockNumber', 'eth_getBlockByNumber']) node.on(method, handler)
}

function hashOf(text: string): string {
  return `0x${createHash('sha256').update(text).digest('hex')}`
}
