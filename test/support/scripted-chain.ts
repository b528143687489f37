import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'

/** A log as a test wishes it. */
export interface Wish {
  readonly address?: string
  readonly topic?: string
  readonly data?: string
}

/** A log as nodes send it, without `removed`. */
export interface ChainLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly blockNumber: string
  readonly blockHash: string
  readonly transactionHash: string
  readonly transactionIndex: string
  readonly logIndex: string
}

/** A block of the model. */
export interface Block {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  /** What a newHeads notification carries, as this text. */
  readonly header: string
  /** What eth_getBlockByNumber answers, as this text. */
  readonly text: string
  readonly logs: readonly ChainLog[]
}

/** The filter of eth_getLogs or of a logs subscription. */
export interface LogFilter {
  readonly address?: string | readonly string[] | null
  readonly topics?: readonly (string | readonly string[] | null)[] | null
  readonly fromBlock?: string
  readonly toBlock?: string
  readonly blockHash?: string
}

/** A number as nodes write it. */
export const hex = (value: number): string => `0x${value.toString(16)}`

const hashOf = (text: string) => `0x${createHash('sha256').update(text).digest('hex')}`
const zeros = (bytes: number) => `0x${'00'.repeat(bytes)}`

/** The address and the topic that logs have unless a test wishes others. */
export const someAddress = `0x${'ab'.repeat(20)}`
export const someTopic = hashOf('topic')

/** Blocks that exist before the first one is mined: as many as a gateway may look back. */
const history = 300

/**
 * The blocks of an EVM chain as one node has them. Equal steps make equal hashes, so two of these are one chain as long
 * as the test does the same to both.
 */
export class ScriptedChain {
  readonly #blocks: Block[] = []
  readonly #events = new EventEmitter().setMaxListeners(0)
  readonly #first: number

  constructor(head = 0x1000) {
    this.#first = head - history
    this.#blocks.push(makeBlock(this.#first, zeros(32), 'main', []))
    while (this.head.number < head) this.#append('main', [])
  }

  get head(): Block {
    return this.#blocks.at(-1)!
  }

  /** The block of that number; undefined above the head and far below it. */
  at(number: number): Block | undefined {
    return this.#blocks[number - this.#first]
  }

  /** The blocks above this number, in order. */
  above(number: number): readonly Block[] {
    return this.#blocks.slice(number - this.#first + 1)
  }

  /** Adds a block with these logs, and tells it. */
  mine(wishes: readonly Wish[] = [], branch = 'main'): Block {
    const block = this.#append(branch, wishes)
    this.#events.emit('mined', block)
    return block
  }

  /** Drops the blocks above this number, and tells them, the highest first. */
  dropAbove(number: number): void {
    const dropped = this.#blocks.splice(number - this.#first + 1)
    this.#events.emit('dropped', dropped.toReversed())
  }

  onMined(listener: (block: Block) => void): void {
    this.#events.on('mined', listener)
  }

  onDropped(listener: (blocks: readonly Block[]) => void): void {
    this.#events.on('dropped', listener)
  }

  /** The block that a number or a tag names. */
  find(reference: unknown): Block | undefined {
    if (typeof reference !== 'string') return undefined
    if (/^0x[0-9a-f]{64}$/.test(reference)) return this.#blocks.find(({ hash }) => hash === reference)
    if (reference.startsWith('0x')) return this.at(Number(reference))
    return reference === 'earliest' ? this.#blocks[0] : this.head
  }

  /** What eth_getLogs answers. */
  logs(filter: LogFilter): ChainLog[] {
    const { blockHash, fromBlock = 'latest', toBlock = 'latest' } = filter
    const from = this.find(blockHash ?? fromBlock)?.number ?? Infinity
    const to = (blockHash === undefined ? this.find(toBlock)?.number : from) ?? this.head.number
    return this.#blocks
      .filter(({ number }) => number >= from && number <= to)
      .flatMap(({ logs }) => logs.filter(log => matches(log, filter)))
  }

  #append(branch: string, wishes: readonly Wish[]): Block {
    const { number, hash } = this.head
    const block = makeBlock(number + 1, hash, branch, wishes)
    this.#blocks.push(block)
    return block
  }
}

/** Whether a log is what a filter asks for. */
export function matches(log: ChainLog, { address, topics }: LogFilter): boolean {
  const addresses = address === undefined || address === null ? [log.address] : [address].flat()
  if (!addresses.includes(log.address)) return false
  return (topics ?? []).every((wanted, i) => wanted === null || [wanted].flat().includes(log.topics[i]!))
}

function makeBlock(number: number, parentHash: string, branch: string, wishes: readonly Wish[]): Block {
  const hash = hashOf(JSON.stringify([number, parentHash, branch, wishes]))
  const place = { blockNumber: hex(number), blockHash: hash }
  const logs = wishes.map(({ address = someAddress, topic = someTopic, data = '0x' }, i) => ({
    address,
    topics: [topic],
    data,
    ...place,
    transactionHash: hashOf(`${hash} ${i}`),
    transactionIndex: hex(i),
    logIndex: hex(i),
  }))
  const fields = {
    hash,
    parentHash,
    number: hex(number),
    timestamp: hex(0x6800_0000 + number),
    extraData: '0x',
    sha3Uncles: zeros(32),
    miner: zeros(20),
    stateRoot: hash,
    transactionsRoot: hash,
    receiptsRoot: hash,
    logsBloom: zeros(256),
    difficulty: '0x0',
    gasLimit: '0x1c9c380',
    gasUsed: '0x0',
    mixHash: zeros(32),
    nonce: zeros(8),
    baseFeePerGas: '0x7',
  }
  const header = JSON.stringify(fields)
  const body = { size: '0x220', transactions: logs.map(log => log.transactionHash), uncles: [] }
  return { number, hash, parentHash, header, text: JSON.stringify({ ...fields, ...body }), logs }
}
