import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Access } from '../support/access.ts'
import type { ScriptedChain } from '../support/scripted-chain.ts'
import { openClient, type SocketClient } from '../support/socket-client.ts'

/** Milliseconds between two calls of a socket that makes calls. */
const callEvery = 2_000
/** Sockets that are opened side by side. */
const lanes = 10

interface Head {
  readonly number: string
  readonly hash: string
}

/** Many sockets: of four, two have a subscription, one makes calls, one does both. */
export class Crowd {
  /** Units that they have to be charged. */
  get units(): number {
    const heard = this.#listeners.reduce((sum, { heads }) => sum + heads().length, 0)
    return this.#listeners.length + heard + this.#calls
  }

  readonly #listeners: readonly { readonly client: SocketClient; readonly heads: () => readonly Head[] }[]
  readonly #wrong: string[] = []
  #calls = 0

  constructor(
    readonly access: Access,
    readonly clients: readonly SocketClient[],
    listeners: ReadonlyMap<SocketClient, string>,
  ) {
    this.#listeners = [...listeners].map(([client, subscription]) => ({
      client,
      heads: () => client.notifications(subscription) as readonly Head[],
    }))
  }

  /** Makes calls until it is over. */
  async talk(isOver: () => boolean): Promise<void> {
    const talkers = this.clients.filter((_, i) => i % 4 >= 2)
    await Promise.all(
      talkers.map(async (client, i) => {
        await pause((callEvery * i) / talkers.length)
        for (let n = 0; !isOver(); n++) {
          const param = `0x${(n * 1_000 + i).toString(16)}`
          this.#calls++
          const { result } = await client.call('web3_sha3', [param])
          if (JSON.stringify(result) !== JSON.stringify([param])) this.#wrong.push(`${param} ${result}`)
          await pause(callEvery)
        }
      }),
    )
  }

  /** Resolves when every subscription has told this block. */
  async heardOf(number: number): Promise<void> {
    const hex = `0x${number.toString(16)}`
    for (const { client, heads } of this.#listeners)
      await client.when(`block ${number}`, () => heads().at(-1)?.number === hex)
  }

  /** Nobody was dropped, no call failed, no block is missing or told twice. */
  check(t: Test, chain: ScriptedChain): void {
    t.same(
      this.clients.flatMap(({ over }) => over ?? []),
      [],
      `none of ${this.clients.length} sockets was dropped`,
    )
    t.same(this.#wrong, [], `each of ${this.#calls} calls over sockets has its own right result`)
    t.ok(this.#calls > 0)
    const wrong = this.#listeners.flatMap(({ heads }, i) => {
      const told = heads().map(({ hash }) => hash)
      const whole = chain.above(Number(heads()[0]?.number) - 1).map(({ hash }) => hash)
      return JSON.stringify(told) === JSON.stringify(whole) ? [] : [`${i}: ${told.length} of ${whole.length}`]
    })
    t.same(wrong, [], `each of ${this.#listeners.length} subscriptions has told every block once, in order`)
  }

  /** Units that they were charged; `through` is another key of the account. */
  async charged(through: Access): Promise<number> {
    return (await this.access.usage(through)).requests
  }
}

/** Opens so many sockets of one endpoint. */
export async function openCrowd(t: Test, access: Access, count: number): Promise<Crowd> {
  const clients: SocketClient[] = []
  const listeners = new Map<SocketClient, string>()
  let begun = 0
  const lane = async (): Promise<void> => {
    for (;;) {
      const i = begun++
      if (i >= count) return
      const client = await openClient(t, access)
      clients[i] = client
      if (i % 4 !== 2) listeners.set(client, await client.subscribe('eth_subscribe', ['newHeads']))
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return new Crowd(access, clients, listeners)
}
