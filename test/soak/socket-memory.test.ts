import t from 'tap'
import { setTimeout as pause } from 'node:timers/promises'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { forgetPeak, memoryIsVisible, peakResident, resident } from '../support/memory.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'

const MiB = 2 ** 20
const piece = 64 * 1024
/** What the node sends each second, and for how long. */
const perSecond = 4 * MiB
const seconds = 60
const standing = 10

const node = await startSocketNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl }],
})
const access = await createAccess(gateway, 'paid', 'alpha')

t.test('readers that stand still cost what may be queued for them, and no more', async t => {
  const params = ['newPendingTransactions']
  const reader = await openClient(t, access)
  const subscription = await reader.subscribe('eth_subscribe', params)
  const stalled = await Promise.all(Array.from({ length: standing }, () => openClient(t, access)))
  for (const client of stalled) {
    await client.subscribe('eth_subscribe', params)
    client.socket.pause()
  }
  if (memoryIsVisible) await forgetPeak(gateway.pid)
  const before = memoryIsVisible ? await resident(gateway.pid) : 0
  let pushed = 0
  for (let second = 0; second < seconds; second++) {
    for (let i = 0; i < perSecond / piece; i++) {
      node.push('eth_subscribe', `"${pushed++}:${'a'.repeat(piece)}"`)
      await pause(1000 / (perSecond / piece))
    }
    reader.frames.length = 0
  }
  await reader.notified(subscription, pushed)
  t.strictSame(
    reader.notifications(subscription).map((one: string) => Number(one.split(':')[0])),
    Array.from({ length: pushed }, (_, i) => i),
  )
  await metricIs(gateway, 'tollgate_ws_connections', { network: 'alpha' }, 1)
  if (memoryIsVisible) {
    const most = ((await peakResident(gateway.pid)) - before) / MiB
    t.comment(`at most ${Math.round(most)} MiB more for ${standing} readers`)
    // Eight may be queued before the 10 s begin, and what comes in those 10 s; as much again for the collector.
    const allowed = 2 * standing * (8 + (10 * perSecond) / MiB)
    t.ok(most < allowed, `${Math.round(most)} MiB of ${allowed}`)
  }
  for (const client of stalled) {
    client.socket.resume()
    t.ok([1013, 1006].includes((await client.closedBy('a stalled reader')).code))
  }
  t.equal(await metric(gateway, 'tollgate_ws_subscriptions', { side: 'client' }), 1)
})
