import t from 'tap'
import { Access, message } from '../../support/access.ts'
import { createAccess } from '../../support/accounts.ts'
import { Bystander } from '../../support/bystander.ts'
import { Gate } from '../../support/gate.ts'
import { startGateway } from '../../support/gateway.ts'
import { memoryIsVisible, peakResident } from '../../support/memory.ts'
import { metric } from '../../support/metrics.ts'
import { echo, held } from '../../support/node-replies.ts'
import { startNode } from '../../support/scripted-node.ts'
import { openClient } from '../../support/socket-client.ts'
import { until } from '../../support/until.ts'

/** What the frames of WebSockets can make the gateway hold. Seen: 2.2 GiB. */
const MiB = 2 ** 20
const limit = 64
const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001, public: true } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.url.replace('http', 'ws') }],
  gateway: { limits: { memory: `${limit}MiB` } },
})
const open = new Access(gateway, 'alpha', 'public')
const bystander = await createAccess(gateway, 'paid', 'alpha')
const allIsBack = async () =>
  until('all is given back', async () => (await metric(gateway, 'tollgate_memory_held_bytes')) === 0)

t.test('20 sockets that send long messages in vain', async t => {
  const gate = new Gate()
  node.on('web3_sha3', held(gate, echo))
  const beside = new Bystander(bystander)
  await beside.calls(5)
  const clients = await Promise.all(Array.from({ length: 20 }, async () => openClient(t, open)))
  const long = Buffer.from(message('web3_sha3', [`0x${'0'.repeat(2 * MiB)}`]))
  for (const client of clients) for (let i = 0; i < 10; i++) client.send(long)
  // Refused, or ended where not even the rest of a message can be held.
  await Promise.race(
    clients.flatMap(client => [
      client
        .when('a refusal', () => client.frames.some(one => one.includes('"overloaded"')))
        .catch(() => undefined),
      client.closed,
    ]),
  )
  await beside.calls(30)
  if (memoryIsVisible) {
    const peak = (await peakResident(gateway.pid)) / MiB
    t.comment(
      `${Math.round(peak)} MiB at most; the slowest call of another took ${Math.round(beside.slowest)} ms`,
    )
    t.ok(peak < limit + 150, `${Math.round(peak)} MiB resident for limits.memory of ${limit} MiB`)
  }
  for (const client of clients) client.socket.terminate()
  gate.open()
  await beside.stop()
  t.same(beside.failures, [])
  await allIsBack()
})

t.test('messages that never end are counted while they come', async t => {
  const clients = await Promise.all(Array.from({ length: 20 }, async () => openClient(t, open)))
  for (const { socket } of clients) socket.send(Buffer.alloc(2 * MiB, ' '), { binary: false, fin: false })
  const closed = await Promise.race(clients.map(async client => client.closedBy('no memory for it')))
  t.ok([1013, 1006].includes(closed.code), `code ${closed.code}`)
  for (const client of clients) client.socket.terminate()
  await allIsBack()
})

for (const [name, piece] of [
  ['empty', ''],
  ['one byte', ' '],
] as const)
  t.test(`a message in too many fragments (${name}) closes with 1009`, async t => {
    const client = await openClient(t, open)
    for (let i = 0; i < 2_000; i++) client.socket.send(piece, { binary: false, fin: false })
    t.equal((await client.closedBy('too many fragments')).code, 1009)
    await allIsBack()
  })

t.test('a message in a few hundred fragments is read', async t => {
  node.on('web3_sha3', echo)
  const client = await openClient(t, open)
  const text = message('web3_sha3', ['0x00'])
  for (let i = 0; i < 900; i++) client.socket.send(' ', { binary: false, fin: false })
  client.socket.send(text, { binary: false, fin: true })
  t.match(await client.next(), '"result":["0x00"]')
  await client.close()
})

t.test('10 000 short messages in one piece are answered, or end the socket', async t => {
  const client = await openClient(t, open)
  client.sendTogether(Array.from({ length: 10_000 }, (_, i) => message('eth_chainId', [], i)))
  await client.when('all answers', () => client.frames.length === 10_000, 20_000)
  t.equal((JSON.parse(client.frames.at(-1)!) as { id: number }).id, 9_999)
  await client.close()
  await allIsBack()
})
