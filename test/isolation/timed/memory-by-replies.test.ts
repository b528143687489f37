import t from 'tap'
import type { Test } from 'tap'
import { message, Access } from '../../support/access.ts'
import { createAccess } from '../../support/accounts.ts'
import { Bystander } from '../../support/bystander.ts'
import { startGateway, type Gateway } from '../../support/gateway.ts'
import { memoryIsVisible, peakResident } from '../../support/memory.ts'
import { metric } from '../../support/metrics.ts'
import { startBigNode } from '../../support/big-node.ts'
import { openClient } from '../../support/socket-client.ts'
import { openSocket } from '../../support/tcp.ts'
import { until } from '../../support/until.ts'

/** What replies can make the gateway hold. Seen: 1.6 GiB by one unread WebSocket without a key, 1.3 GiB by one batch. */
const MiB = 2 ** 20
const node = await startBigNode(t)
const limit = 128

async function start(limits: object = {}): Promise<{ gateway: Gateway; access: Access; bystander: Access }> {
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId: 1001, public: true, share: false } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.url.replace('http', 'ws') }],
    gateway: { limits: { memory: `${limit}MiB`, ...limits } },
  })
  const bystander = await createAccess(gateway, 'paid', 'alpha')
  return { gateway, access: new Access(gateway, 'alpha', 'public'), bystander }
}

/** Runs an attack beside a caller who makes a call every 20 ms, and checks what both leave behind. */
async function attacked(
  t: Test,
  { gateway, bystander }: { readonly gateway: Gateway; readonly bystander: Access },
  attack: (calls: (times: number) => Promise<void>) => Promise<() => void>,
): Promise<void> {
  const beside = new Bystander(bystander)
  await beside.calls(5)
  const end = await attack(times => beside.calls(times))
  await beside.calls(40)
  if (memoryIsVisible) {
    const peak = (await peakResident(gateway.pid)) / MiB
    t.comment(
      `${Math.round(peak)} MiB at most, the slowest call of another took ${Math.round(beside.slowest)} ms`,
    )
    t.ok(peak < limit + 150, `${Math.round(peak)} MiB resident for limits.memory of ${limit} MiB`)
  }
  end()
  await beside.stop()
  t.same(beside.failures, [], 'no call of another failed')
  // The node and the other caller share this process, and its time: this is no measure of the gateway alone.
  t.ok(beside.slowest < 2_000, `${Math.round(beside.slowest)} ms`)
  await until(
    'all is given back',
    async () => (await metric(gateway, 'tollgate_memory_held_bytes', {})) === 0,
  )
}

t.test('one WebSocket that does not read', async t => {
  const parts = await start()
  await attacked(t, parts, async calls => {
    const client = await openClient(t, parts.access)
    client.socket.pause()
    for (let i = 0; i < 150; i++)
      client.send(message('eth_getBlockByHash', [`0x${'0'.repeat(64)}`, false], i))
    await calls(60)
    return () => {
      client.socket.terminate()
    }
  })
})

t.test('a batch never holds more than batchReply, done and in flight', async t => {
  const parts = await start({ batchReply: '12MiB' })
  await attacked(t, parts, async () => {
    const batch = Array.from({ length: 20 }, (_, i) =>
      message('eth_getBlockByHash', [`0x${'0'.repeat(64)}`, false], i),
    )
    const { status, text } = await parts.access.post(`[${batch.join()}]`)
    t.equal(status, 200)
    t.ok(text.length <= 13 * MiB, `${text.length} bytes`)
    const items = JSON.parse(text) as { result?: string; error?: { data: { reason: string } } }[]
    t.equal(items.length, 20)
    const reasons = items.flatMap(({ error }) => (error === undefined ? [] : [error.data.reason]))
    t.same([...new Set(reasons)], ['response_too_large'])
    return () => undefined
  })
})

t.test('connections that do not read the replies of their batches', async t => {
  const parts = await start()
  await attacked(t, parts, async calls => {
    const body = `[${Array.from({ length: 4 }, (_, i) => message('eth_getBlockByHash', [`0x${'0'.repeat(64)}`, false], i)).join()}]`
    const head = `POST ${parts.access.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`
    const sockets = await Promise.all(Array.from({ length: 20 }, async () => openSocket(parts.gateway.port)))
    for (const socket of sockets) {
      socket.pause()
      socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`.repeat(3))
    }
    await calls(60)
    return () => {
      for (const socket of sockets) socket.destroy()
    }
  })
})
