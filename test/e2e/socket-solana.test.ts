import t from 'tap'
import { createSolanaRpc, createSolanaRpcSubscriptions, signature as asSignature } from '@solana/kit'
import { Connection } from '@solana/web3.js'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { result } from '../support/node-replies.ts'
import { startSocketNode, type ScriptedSocketNode } from '../support/scripted-socket-node.ts'
import { socketUrl } from '../support/socket-client.ts'
import { until } from '../support/until.ts'

const [a, b] = [await startSocketNode(t), await startSocketNode(t)]
const gateway = await startGateway(t, {
  networks: { sol: { family: 'solana', chainId: 'solana-test' } },
  routes: [
    { id: 'sol-a', network: 'sol', http: a.url, ws: a.wsUrl, priority: 1 },
    { id: 'sol-b', network: 'sol', http: b.url, ws: b.wsUrl, priority: 2 },
  ],
})
const access = await createAccess(gateway, 'paid', 'sol')

/** Signatures as they look: 64 bytes in base58. */
const signatures = [
  '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW',
  '2nBhEBYYvfaAe16UMNqRHre4YNSskvuYgx3M6E4JP1oDYvZEJHvoPzyUidNgNX5r9sTyN1J9UxtbCXy2rqYcuyuv',
  '4hXTCkRzt9WyecNzV1XPgCDfGAZzQKNxLXgynz5QDuWWPSAZBZSHptvWRL3BjCvzUXRdKvHL2b7yGrRQcWyaqsaB',
] as const

/** What one library was told, through its own API. */
interface Told {
  readonly name: string
  readonly slots: number[]
  /** Signatures of the transactions whose logs came. */
  readonly logs: string[]
  /** Signatures that were confirmed. */
  readonly confirmed: string[]
}
const newTold = (name: string): Told => ({ name, slots: [], logs: [], confirmed: [] })

const web3 = newTold('web3.js')
const connection = new Connection(access.url, { wsEndpoint: socketUrl(access), commitment: 'confirmed' })
const listeners = [
  connection.onSlotChange(({ slot }) => web3.slots.push(slot)),
  connection.onLogs('all', ({ signature }) => web3.logs.push(signature)),
] as const
for (const signature of signatures)
  connection.onSignature(signature, ({ err }) => web3.confirmed.push(err === null ? signature : 'failed'))

const kit = newTold('kit')
const rpc = createSolanaRpc(access.url)
const subscriptions = createSolanaRpcSubscriptions(socketUrl(access))
const leaving = new AbortController()
const { signal: abortSignal } = leaving
const troubles: unknown[] = []

/** Reads what comes until the test is over. */
function reading<T>(opening: Promise<AsyncIterable<T>>, take: (value: T) => void): void {
  const read = async () => {
    for await (const value of await opening) take(value)
  }
  void read().catch((error: unknown) => troubles.push(error))
}
reading(subscriptions.slotNotifications().subscribe({ abortSignal }), ({ slot }) =>
  kit.slots.push(Number(slot)),
)
reading(
  subscriptions.logsNotifications('all', { commitment: 'confirmed' }).subscribe({ abortSignal }),
  ({ value }) => kit.logs.push(value.signature),
)
for (const signature of signatures)
  reading(
    subscriptions
      .signatureNotifications(asSignature(signature), { commitment: 'confirmed' })
      .subscribe({ abortSignal }),
    ({ value }) => kit.confirmed.push(typeof value === 'object' && value.err === null ? signature : 'failed'),
  )

const libraries = [web3, kit]
const sides = (side: string) => metric(gateway, 'tollgate_ws_subscriptions', { network: 'sol', side })

let slot = 1_000
/** The node goes one slot further, with the logs of one transaction. */
function advance(node: ScriptedSocketNode, signature: string): void {
  slot++
  node.push('slotSubscribe', `{"parent":${slot - 1},"root":${slot - 32},"slot":${slot}}`)
  const value = { signature, err: null, logs: ['Program 11111111111111111111111111111111 success'] }
  node.push('logsSubscribe', JSON.stringify({ context: { slot }, value }))
}
const confirm = (node: ScriptedSocketNode, signature: string) =>
  node.pushLast('signatureSubscribe', JSON.stringify({ context: { slot }, value: { err: null } }), one =>
    one.params.includes(signature),
  )
const both = (what: string, probe: (told: Told) => boolean) =>
  until(`both libraries: ${what}: ${JSON.stringify(libraries)}`, () =>
    Promise.resolve(libraries.every(probe)),
  )

const sockets = () => metric(gateway, 'tollgate_ws_connections', { network: 'sol' })
let socketsBefore = 0

t.test('slots, logs and signatures arrive', async t => {
  const subscribed = { transport: 'ws', outcome: 'ok' }
  await metricIs(gateway, 'tollgate_calls_total', subscribed, 10)
  t.equal(await sides('client'), 10)
  socketsBefore = await sockets()
  t.equal(a.live('slotSubscribe').length, 1)
  for (const signature of signatures.slice(0, 2)) advance(a, signature)
  await both('two slots', ({ slots }) => slots.length === 2)
  await both('two logs', ({ logs }) => logs.length === 2)
  confirm(a, signatures[0])
  await both('a signature', ({ confirmed }) => confirmed.length === 1)
  for (const { name, slots, logs, confirmed } of libraries) {
    t.strictSame(slots, [1_001, 1_002], `${name}: slots`)
    t.strictSame(logs, signatures.slice(0, 2), `${name}: logs`)
    t.strictSame(confirmed, [signatures[0]], `${name}: signatures`)
  }
  await until('the one-shot ones are over', async () => (await sides('client')) === 8)
})

t.test('the node that serves goes away, and nobody notices', async t => {
  const missed = signatures[1]
  b.on('getSignatureStatuses', (request, response) => {
    const found = request.params.includes(missed)
    const status = { slot: 1_002, confirmations: 5, err: null, confirmationStatus: 'confirmed' }
    const value = [found ? { ...status, status: { Ok: null } } : null]
    return result(JSON.stringify({ context: { slot: 1_003 }, value }))(request, response)
  })
  await a.close()
  await both('a signature that was confirmed meanwhile', ({ confirmed }) => confirmed.length === 2)
  await b.when('what goes on', () => ['slotSubscribe', 'logsSubscribe'].every(one => b.live(one).length > 0))
  advance(b, signatures[2])
  await b.when('the last signature', () => b.live('signatureSubscribe').length > 0)
  confirm(b, signatures[2])
  await both('a third slot', ({ slots }) => slots.length === 3)
  await both('a third log', ({ logs }) => logs.length === 3)
  await both('a third signature', ({ confirmed }) => confirmed.length === 3)
  for (const { name, slots, logs, confirmed } of libraries) {
    t.strictSame(slots, [1_001, 1_002, 1_003], `${name}: slots`)
    t.strictSame(logs, signatures, `${name}: logs`)
    t.strictSame(confirmed, signatures, `${name}: signatures`)
  }
  t.strictSame(troubles, [])
  t.equal(await sockets(), socketsBefore)
  t.equal(await rpc.getSlot().send(), BigInt(b.head), 'and calls are answered')
})

t.test('whoever leaves is gone', async t => {
  leaving.abort()
  const [onSlots, onLogs] = listeners
  await connection.removeSlotChangeListener(onSlots)
  await connection.removeOnLogsListener(onLogs)
  await until('no subscription is left', async () => (await sides('client')) === 0)
  await until('no socket is left', async () => {
    const left = await metric(gateway, 'tollgate_ws_connections', { network: 'sol' })
    return left === 0
  })
  t.equal(kit.slots.length, 3)
})
