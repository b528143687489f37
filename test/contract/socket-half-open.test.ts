/** An upstream socket that passes no more bytes, and does not end: nothing that happens meanwhile is missed. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { result } from '../support/node-replies.ts'
import { ScriptedChain, someAddress } from '../support/scripted-chain.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient, type SocketClient } from '../support/socket-client.ts'

/** A way to a server whose connections can be frozen; later ones pass. */
async function startWay(port: number): Promise<{ readonly url: string; freeze(): void }> {
  const open = new Set<Socket>()
  const server = createServer(client => {
    const upstream = connect(port, '127.0.0.1')
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    freeze: () => {
      for (const socket of open) socket.unpipe().pause()
    },
  }
}

/** Milliseconds a block, and from the freeze until the subscriptions have to be whole again. */
const BLOCK = 250
const NOTICED = 30_000

/** What each network's client subscribes to, and whether its socket is frozen before anything has come. */
const scenes = {
  logs: { kinds: ['logs'], routes: 2, early: false },
  'one-route': { kinds: ['logs'], routes: 1, early: false },
  both: { kinds: ['logs', 'newHeads'], routes: 2, early: false },
  early: { kinds: ['newHeads'], routes: 2, early: true },
  'early-logs': { kinds: ['logs'], routes: 2, early: true },
} as const

const parts = await Promise.all(
  Object.entries(scenes).map(async ([slug, scene], i) => {
    const chain = new ScriptedChain()
    const nodes = await Promise.all(
      Array.from({ length: scene.routes }, () => startSocketNode(t, { chainId: 1_400 + i, chain })),
    )
    const way = await startWay(Number(new URL(nodes[0]!.url).port))
    return { slug, chainId: 1_400 + i, chain, nodes, way, ...scene }
  }),
)
const solana = await Promise.all([0, 1].map(() => startSocketNode(t, { head: 1_000 })))
const solanaWay = await startWay(Number(new URL(solana[0]!.url).port))
const gateway = await startGateway(t, {
  networks: {
    ...Object.fromEntries(parts.map(({ slug, chainId }) => [slug, { chainId }])),
    sol: { family: 'solana', chainId: 'solana-test' },
  },
  routes: [
    ...parts.flatMap(({ slug, nodes, way }) =>
      nodes.map((node, i) => ({
        id: `${slug}-${i}`,
        network: slug,
        http: node.url,
        ws: i === 0 ? way.url : node.wsUrl,
        priority: i + 1,
      })),
    ),
    ...solana.map((node, i) => ({
      id: `sol-${i}`,
      network: 'sol',
      http: node.url,
      ws: i === 0 ? solanaWay.url : node.wsUrl,
      priority: i + 1,
    })),
  ],
})
const account = await createAccess(gateway, 'paid', 'sol')

const hashes = (client: SocketClient, id: string, kind: string): string[] =>
  client.notifications(id).map(message => String(message[kind === 'logs' ? 'blockHash' : 'hash']))

t.jobs = 6
for (const { slug, chain, way, kinds, early } of parts)
  t.test(slug, async t => {
    await gateway.headKnown(slug)
    const client = await openClient(t, await account.another(slug))
    const ids = await Promise.all(
      kinds.map(kind =>
        client.subscribe('eth_subscribe', kind === 'logs' ? [kind, { address: someAddress }] : [kind]),
      ),
    )
    const mined: string[] = []
    const mining = setInterval(() => mined.push(chain.mine([{}]).hash), BLOCK)
    t.teardown(() => {
      clearInterval(mining)
    })
    if (early) way.freeze()
    else await client.notified(ids[0]!, 20)
    way.freeze()
    const frozenAt = mined.length
    await client.when(
      'ten blocks behind the freeze have come',
      () => ids.every((id, i) => hashes(client, id, kinds[i]!).includes(mined[frozenAt + 10]!)),
      NOTICED,
    )
    clearInterval(mining)
    await client.when('the last block has come', () =>
      ids.every((id, i) => hashes(client, id, kinds[i]!).includes(mined.at(-1)!)),
    )
    for (const [i, id] of ids.entries())
      t.strictSame(
        hashes(client, id, kinds[i]!).slice(-mined.length),
        mined,
        `${kinds[i]!}: each block once and in order`,
      )
    t.equal(client.over, undefined)
  })

t.test('a signature that is confirmed meanwhile', async t => {
  await gateway.headKnown('sol')
  const client = await openClient(t, account)
  const id = await client.subscribe('signatureSubscribe', ['5'.repeat(88), { commitment: 'confirmed' }])
  solanaWay.freeze()
  const status = '{"slot":1000,"confirmations":1,"err":null,"confirmationStatus":"confirmed"}'
  for (const node of solana)
    node.on('getSignatureStatuses', result(`{"context":{"slot":1001},"value":[${status}]}`))
  await client.when('it is told', () => client.notifications(id).length === 1, NOTICED)
  t.match(client.notifications(id), [{ value: { err: null } }])
})
