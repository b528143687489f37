import { once } from 'node:events'
import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { metric } from '../support/metrics.ts'
import { startNode } from '../support/scripted-node.ts'
import { openSocket } from '../support/tcp.ts'
import { until } from '../support/until.ts'

const CONNECTIONS = 30
const EACH = 16
const ITEMS = 1_000

t.test('messages whose client left before their turn are not worked off', async t => {
  const node = await startNode(t, { chainId: 1001 })
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId: 1001, public: true } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    methods: fewMethods,
  })
  const access = await createAccess(gateway, 'paid', 'alpha')
  const body = `[${Array.from({ length: ITEMS }, () => '0').join()}]`
  const request =
    'POST /alpha/v1/rpc/public HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n' +
    `Content-Length: ${body.length}\r\n\r\n${body}`
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => openSocket(gateway.port)))
  const begun = Promise.race(sockets.map(socket => once(socket, 'data')))
  for (const socket of sockets) socket.write(request.repeat(EACH))
  await begun
  for (const socket of sockets) socket.resetAndDestroy()
  // Each answer takes a turn of the loop, between those that work off what waits.
  let worked = await metric(gateway, 'tollgate_calls_total', { outcome: 'refused' })
  await until('nothing more is worked off', async () => {
    for (let i = 0; i < 50; i++) await access.post(message('eth_chainId'))
    const before = worked
    worked = await metric(gateway, 'tollgate_calls_total', { outcome: 'refused' })
    return worked === before
  })
  t.ok(worked > 0)
  t.ok(worked < (CONNECTIONS * EACH * ITEMS) / 2, `${worked} of ${CONNECTIONS * EACH * ITEMS} items`)
})
