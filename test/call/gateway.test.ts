import { once } from 'node:events'
import { systemClock } from '../../src/ports/clock.ts'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { Gateway } from '../../src/call/gateway.ts'
import type { Observation } from '../../src/ports/observer.ts'
import type { Live } from '../../src/call/context.ts'
import { makePublicListener } from '../../src/http/public-listener.ts'
import { Floors } from '../../src/routes/floors.ts'
import { Sent } from '../../src/routes/sent.ts'
import { LocalBuckets } from '../../src/limits/buckets.ts'
import { CallLimits } from '../../src/limits/limits.ts'
import { snapshotOf } from '../support/snapshot.ts'

const networks = `
baseUrl: http://127.0.0.1:8080/{slug}
networks:
  eth: { name: Test, family: evm, chainId: 1, public: true }
`

t.test('internal: what throws within the line is told as such, once, and charged to nobody', async t => {
  const snapshot = await snapshotOf(t, { networks })
  const calls: Observation[] = []
  const bugs: unknown[] = []
  const boom = new Error('a bug that holds /secret/paths')
  const live = {
    limits: new CallLimits(new LocalBuckets(systemClock, () => null), null),
    upstreams: {
      budget: () => {
        throw boom
      },
    },
    heads: { best: () => null },
    answers: { purges: 0 },
    floors: new Floors(),
    sent: new Sent(systemClock),
    management: {
      methods: { has: (method: string) => method.startsWith('service_') },
      isPublic: () => true,
      answer: () => Promise.reject(boom),
    },
    observer: {
      call: (seen: Observation) => calls.push(seen),
      bug: (error: unknown) => bugs.push(error),
      refused: () => undefined,
      attempt: () => undefined,
    },
    clock: systemClock,
  } as unknown as Live
  const { server } = makePublicListener(
    new Gateway(snapshot, { find: () => null, changes: 0 }, live),
    snapshot.gateway,
  )
  server.listen(0, '127.0.0.1')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/eth/v1/rpc/public`
  const post = (body: string): Promise<Response> =>
    fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })

  for (const method of ['eth_call', 'service_supportedNetworks']) {
    const reply = await post(`{"jsonrpc":"2.0","id":7,"method":"${method}","params":[{}]}`)
    t.equal(reply.status, 500)
    t.strictSame(await reply.json(), {
      jsonrpc: '2.0',
      id: 7,
      error: {
        code: -32603,
        message: 'Internal error',
        data: { reason: 'internal', requestId: reply.headers.get('x-request-id') },
      },
    })
  }
  const batch = await post(
    '[{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{}]},{"jsonrpc":"2.0","id":2,"method":"nope"}]',
  )
  t.equal(batch.status, 200)
  t.match(await batch.json(), [
    { id: 1, error: { code: -32603 } },
    { id: 2, error: { code: -32601 } },
  ])
  t.strictSame(bugs, [boom, boom, boom])
  const seen = calls.map(({ outcome, reason, requests }) => `${outcome} ${String(reason)} ${requests}`).sort()
  t.strictSame(seen, [...Array.from({ length: 3 }, () => 'failed internal 0'), 'refused method_not_found 0'])
})
