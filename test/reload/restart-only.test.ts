import t from 'tap'
import type { GatewayConfig } from '../../src/config/types.ts'
import { restartNotice, restartOnly } from '../../src/reload/restart-only.ts'
import { load } from '../support/snapshot.ts'

const { config } = await load(t)
const start = config!.gateway
const names = (more: Partial<GatewayConfig>): string[] => restartOnly(start, { ...start, ...more })

t.test('settings that are read once are named when they change, others never', t => {
  const tls = { cert: '/a', key: '/b' } as GatewayConfig['tls']
  const timeouts = { ...start.timeouts, connect: start.timeouts.connect + 1 }
  const limits = { ...start.limits, socketCalls: start.limits.socketCalls + 1 }
  t.strictSame(restartOnly(start, structuredClone(start)), [])
  t.strictSame(
    [
      names({ listen: { ...start.listen, port: 1 } }),
      names({ listen: { ...start.listen, host: '::1' } }),
      names({ probes: { host: '127.0.0.1', port: 1 } }),
      names({ dataDir: '/elsewhere' }),
      names({ timeouts }),
      names({ limits }),
      names({ tls }),
      restartOnly({ ...start, tls }, start),
      names({ limits: { ...start.limits, body: start.limits.body + 1 } }),
      restartOnly({ ...start, tls }, { ...start, tls: { cert: '/c', key: '/d' } }),
      names({ limits, tls, dataDir: '/elsewhere' }),
    ],
    [
      ['listen'],
      ['listen'],
      ['probes'],
      ['dataDir'],
      ['timeouts'],
      ['limits.socketCalls'],
      ['tls'],
      ['tls'],
      [],
      [],
      ['dataDir', 'limits.socketCalls', 'tls'],
    ],
  )
  t.equal(
    restartNotice(['listen', 'tls']),
    'gateway.yaml: listen, tls: the change takes effect after a restart',
  )
  t.equal(
    restartNotice(['workers']),
    'gateway.yaml: workers: the change takes effect after a restart of the service; for `workers`, where several serve already, `POST /restart {"primary": true}` is enough',
    'bug: it did not say which restart',
  )
  t.end()
})
