/** Load on all machines of a fleet, and what its clients know of it. */
import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Access } from './access.ts'
import { total, type ClientCall, type Use, type UseByMethod } from './client-ledger.ts'
import { LoadedAccess, mixedCosts } from './ledger-load.ts'
import type { Random } from './random.ts'

/** Clients of each machine, with one message under way at a time. */
const CLIENTS = 6
/** Milliseconds at most between an answer and the next message: load enough for a fault to meet calls, and no more. */
const THOUGHT = 120
/** How many times slower it is while a machine starts: on few cores that takes long enough. */
const WHILE_STARTING = 5
/** Calls of clients beside the load that are made at once. */
export const AT_ONCE = 20
/** Milliseconds for which a machine is sent to that does not answer as often as it should. */
const LONGEST = 20_000

/** One account's clients, which write down what they are told. */
export class FleetLoad {
  readonly loaded: readonly LoadedAccess[]
  /** Others whose calls a test makes itself: they are charged too. */
  readonly beside: LoadedAccess[] = []
  /** Machines that are not sent to: they are being started. */
  readonly down = new Set<number>()
  /** Units of all that was ever asked for, whatever became of it. */
  asked = 0
  #settled: UseByMethod = new Map()
  #waiting: readonly { readonly one: LoadedAccess; readonly resolve: () => void }[] = []
  readonly #random: Random

  constructor(accesses: readonly Access[], random: Random) {
    this.loaded = accesses.map(access => new LoadedAccess(access, random))
    this.#random = random
  }

  /** Sends to all machines as fast as answers come, until each has so many more and `meanwhile`, which begins among them, is over. */
  async send(answers: number, meanwhile: () => void | Promise<void> = () => undefined): Promise<void> {
    const agent = new Agent({ keepAlive: true })
    const goals = this.loaded.map(({ ledger }) => ledger.heard + answers)
    const end = performance.now() + LONGEST
    let isOver = false
    const goesOn = (i: number): boolean =>
      !isOver || (!this.down.has(i) && this.loaded[i]!.ledger.heard < goals[i]! && performance.now() < end)
    const sending = this.loaded.flatMap((one, i) =>
      Array.from({ length: CLIENTS }, async () => {
        while (goesOn(i)) await (this.down.has(i) ? pause(20) : this.#sendOne(one, agent))
      }),
    )
    const acting = (async () => {
      await pause(this.#random.below(100))
      try {
        await meanwhile()
      } finally {
        isOver = true
      }
    })()
    await Promise.all([...sending, acting])
    agent.destroy()
  }

  /** What clients know to be charged, over all machines: at least, and at most. */
  known(): { readonly least: UseByMethod; readonly most: UseByMethod } {
    const ledgers = [...this.loaded, ...this.beside].map(({ ledger }) => ledger)
    const least = sumOf([this.#settled, ...ledgers.map(({ told }) => told)])
    return { least, most: sumOf([least, ...ledgers.map(({ unheard }) => unheard)]) }
  }

  /** So much is charged: bounds are about what comes after. */
  settle(uses: UseByMethod): void {
    this.#settled = uses
    for (const { ledger } of [...this.loaded, ...this.beside]) ledger.settle(new Map())
  }

  /** Calls that were refused, by reason, over all machines. */
  refusals(): Record<string, number> {
    const sums: Record<string, number> = {}
    for (const { ledger } of this.loaded)
      for (const [reason, count] of ledger.refusals) sums[reason] = (sums[reason] ?? 0) + count
    return sums
  }

  /** Resolves as soon as the next answer of a machine is written down. */
  answered(machine: number): Promise<void> {
    return new Promise(resolve => {
      this.#waiting = [...this.#waiting, { one: this.loaded[machine]!, resolve }]
    })
  }

  /** Posts one message, and writes down what comes of it. */
  async post(one: LoadedAccess, calls: readonly ClientCall[], agent: Agent): Promise<void> {
    for (const { method } of calls) this.asked += mixedCosts[method]!
    if (!(await one.post(calls, agent))) return
    const waiting = this.#waiting.filter(waiting => waiting.one === one)
    this.#waiting = this.#waiting.filter(waiting => waiting.one !== one)
    for (const { resolve } of waiting) resolve()
  }

  /** Clients beside the load, of one account on some machines, any of whose calls may be refused: of one unit each. */
  limited(accesses: readonly Access[]): readonly LoadedAccess[] {
    const options = { limited: true, methods: [['eth_gasPrice', []]] } as const
    const clients = accesses.map(access => new LoadedAccess(access, this.#random, options))
    this.beside.push(...clients)
    return clients
  }

  /** Calls of such clients, some of each at once, until so many were served or none for a while: how many were. */
  async spend(clients: readonly LoadedAccess[], most = Infinity): Promise<number> {
    const agent = new Agent({ keepAlive: true })
    const served = () => clients.reduce((sum, { ledger }) => sum + total(ledger.told).calls, 0)
    const before = served()
    for (let idle = 0; idle < 5 && served() - before < most; idle += 1) {
      const last = served()
      const atOnce = Array.from({ length: AT_ONCE }, (_, i) => clients[i % clients.length]!)
      await Promise.all(atOnce.map(one => this.post(one, [one.call()], agent)))
      if (served() > last) idle = -1
      // What a process had in reserve comes back.
      else await pause(300)
    }
    agent.destroy()
    return served() - before
  }

  async #sendOne(one: LoadedAccess, agent: Agent): Promise<void> {
    await this.post(one, one.message(), agent)
    await pause(this.#random.below(THOUGHT) * (this.down.size > 0 ? WHILE_STARTING : 1))
  }
}

function sumOf(all: readonly UseByMethod[]): UseByMethod {
  const sums = new Map<string, Use>()
  for (const uses of all)
    for (const [method, { calls, requests }] of uses) {
      const sum = sums.get(method) ?? { calls: 0, requests: 0 }
      sums.set(method, { calls: sum.calls + calls, requests: sum.requests + requests })
    }
  return sums
}
