/** Which keys are secrets: a key that is added here needs a canary in test/secrets. */
import t from 'tap'
import { FILES } from '../../src/config/files.ts'
import { hideSecrets } from '../../src/config/schema/hide-secrets.ts'
import { secretKeys } from '../../src/config/validators.ts'

t.test('the schemas say which keys are secrets, and each has a canary', t => {
  t.strictSame(Object.fromEntries(FILES.map(file => [file, secretKeys()[file]])), {
    'networks.yaml': [],
    'routes.yaml': ['http', 'ws', 'headers'],
    'methods.yaml': [],
    'plans.yaml': [],
    'gateway.yaml': [
      'postgres.url',
      'redis.url',
      'tracing.endpoint',
      'tracing.headers',
      'alerts.webhook',
      'alerts.secret',
    ],
  })
  t.end()
})

t.test('all below the key of a secret is hidden, and nothing beside it', t => {
  const route = {
    id: 'a',
    http: 'x',
    ws: null,
    headers: { A: 'x', B: ['x', { c: 1 }] },
    limits: { perSecond: 1 },
  }
  t.strictSame(hideSecrets('routes.yaml', [route]), [
    {
      id: 'a',
      http: '(hidden)',
      ws: null,
      limits: { perSecond: 1 },
      headers: { A: '(hidden)', B: ['(hidden)', { c: '(hidden)' }] },
    },
  ])
  t.strictSame(hideSecrets('plans.yaml', { ws: { connections: 5 } }), { ws: { connections: 5 } })
  const tracing = { endpoint: 'x', headers: { A: 'x' }, sample: 1 }
  t.strictSame(hideSecrets('gateway.yaml', { timeouts: { headers: 10 }, tracing }), {
    timeouts: { headers: 10 },
    tracing: { endpoint: '(hidden)', headers: { A: '(hidden)' }, sample: 1 },
  })
  t.strictSame(hideSecrets('gateway.yaml', tracing, 'tracing'), {
    endpoint: '(hidden)',
    headers: { A: '(hidden)' },
    sample: 1,
  })
  t.end()
})
