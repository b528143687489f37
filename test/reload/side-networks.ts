import assert from 'node:assert/strict'
import type { Access } from '../support/access.ts'
import { openClient, type SocketClient } from '../support/socket-client.ts'
import type { Teardown } from '../support/teardown.ts'

/** Sockets on each network that comes. */
const each = 3

/** Sockets on networks that come and go: they end with their network, and only then. */
export class SideNetworks {
  readonly #open = new Map<string, { readonly access: Access; readonly clients: readonly SocketClient[] }>()
  readonly #ending = new Set<string>()

  constructor(
    readonly t: Teardown,
    readonly access: Access,
  ) {}

  /** Opens sockets on a network that has come, with a subscription each. */
  async open(slug: string): Promise<void> {
    const access = await this.access.another(slug)
    const clients: SocketClient[] = []
    for (let i = 0; i < each; i++) {
      const client = await openClient(this.t, access)
      await client.subscribe('eth_subscribe', ['newHeads'])
      clients.push(client)
      client.socket.once('close', () => {
        assert.ok(this.#ending.has(slug), `a socket of ${slug} was dropped while its network was served`)
      })
    }
    this.#open.set(slug, { access, clients })
  }

  /** Called before the edit that takes a network away. */
  expectEnd(slug: string): void {
    this.#ending.add(slug)
  }

  /** Resolves when the sockets of a network that has gone are closed as the contract says. */
  async ended(slug: string): Promise<void> {
    const { access, clients } = this.#open.get(slug)!
    for (const client of clients)
      assert.equal((await client.closedBy(`${slug} is not served any more`)).code, 1001)
    assert.equal((await access.post('{}')).status, 404)
  }
}
