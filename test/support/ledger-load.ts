import type { Agent } from 'node:http'
import type { Access } from './access.ts'
import { bodyOf, clientCall, clientNotification, ClientLedger, type ClientCall } from './client-ledger.ts'
import { openLedgerSocket, type LedgerSocket } from './ledger-socket.ts'
import type { Random } from './random.ts'

/** A methods.yaml whose rules cost different amounts; where a cache is configured, one answer is kept. */
export const mixedMethods = `notification: { cost: 2 }
families:
  evm:
    web3_sha3: { params: [1, 1], retry: safe, cache: [fixed] }
    eth_gasPrice: { params: [0, 0] }
    eth_chainId: { answer: chainId, params: [0, 0] }
    eth_getBlockReceipts: { cost: 3, params: [1, 1], block: { at: 0, kind: ref } }
    trace_transaction: { cost: 5, tier: paid, needs: [trace], params: [1, 1] }
    debug_traceBlockByNumber: { cost: 20, tier: paid, needs: [debug], params: [1, 2], block: { at: 0, kind: num } }
    eth_subscribe: { cost: 4, needs: [ws], subscribe: eth_unsubscribe }
    test_sick: { cost: 7, params: [0, 0], retry: safe }
    test_sometimes: { cost: 6, params: [0, 0] }
`

/** What the methods of `mixedMethods` cost, and the name under which notifications are charged. */
export const mixedCosts: Readonly<Record<string, number>> = {
  web3_sha3: 1,
  eth_gasPrice: 1,
  eth_chainId: 1,
  eth_getBlockReceipts: 3,
  trace_transaction: 5,
  debug_traceBlockByNumber: 20,
  eth_subscribe: 4,
  eth_unsubscribe: 0,
  eth_subscription: 2,
  test_sick: 7,
  test_sometimes: 6,
}

const hash = `0x${'ab'.repeat(32)}`

type Methods = readonly (readonly [method: string, params: unknown])[]

/** Calls of every cost, with params that pass. */
export const mixedCalls: Methods = [
  ['web3_sha3', ['0x00']],
  ['eth_gasPrice', []],
  ['eth_chainId', []],
  ['eth_getBlockReceipts', ['latest']],
  ['trace_transaction', [hash]],
  ['debug_traceBlockByNumber', ['latest']],
]

/** What a test may decide about the load on one endpoint. */
export interface LoadOptions {
  readonly methods?: Methods
  /** Any call may be refused, so none is made whose fate nobody is told. */
  readonly limited?: boolean
}

/** One endpoint under load, and what its client knows. */
export class LoadedAccess {
  readonly ledger = new ClientLedger(mixedCosts)
  readonly access: Access
  readonly #random: Random
  readonly #methods: Methods
  readonly #limited: boolean

  constructor(access: Access, random: Random, { methods = mixedCalls, limited = false }: LoadOptions = {}) {
    this.access = access
    this.#random = random
    this.#methods = methods
    this.#limited = limited
  }

  /** One call of any method. */
  call(): ClientCall {
    return clientCall(...this.#random.pick(this.#methods))
  }

  /** The calls of one message: mostly one, sometimes a batch with a notification in it. */
  message(): ClientCall[] {
    if (this.#random.below(4) > 0) return [this.call()]
    const batch = Array.from({ length: 2 + this.#random.below(6) }, () => this.call())
    // A local answer cannot fail, so it is known what becomes of it though nobody is told.
    return this.#limited ? batch : [...batch, clientNotification('eth_chainId', [])]
  }

  /** Posts one message and writes down what comes of it; gives whether anything came. */
  async post(calls: readonly ClientCall[], agent: Agent): Promise<boolean> {
    const reply = await this.access.post(bodyOf(calls), { agent }).catch(() => undefined)
    this.ledger.reply(calls, reply?.text)
    return reply !== undefined
  }

  /** Opens a socket that subscribes to heads. */
  async subscribed(): Promise<LedgerSocket> {
    const socket = await openLedgerSocket(this.access, this.ledger)
    await socket.send([clientCall('eth_subscribe', ['newHeads'])])
    return socket
  }
}
