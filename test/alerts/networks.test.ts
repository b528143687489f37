/** Events of networks while nothing can be written. */
import t from 'tap'
import { NetworkAlerts } from '../../src/alerts/networks.ts'
import type { Alert } from '../../src/ports/alerts.ts'
import { until } from '../support/until.ts'

t.test('bug: an event that could not be written is written later, in its order', async t => {
  const written: string[] = []
  const errors: unknown[] = []
  const store = { isAway: true }
  const alerts = new NetworkAlerts({
    wants: type => type !== 'key.rotated',
    raise: async ({ type, data }: Alert) => {
      await Promise.resolve()
      if (store.isAway) throw new Error('away')
      written.push(`${type} ${String(data['network'])}`)
    },
    broken: error => errors.push(error),
  })
  alerts.add('network.down', { network: 'alpha' })
  await until('it has failed', () => Promise.resolve(errors.length === 1))
  alerts.add('network.up', { network: 'alpha' })
  await until('it has failed again', () => Promise.resolve(errors.length === 2))
  t.strictSame(written, [])
  store.isAway = false
  alerts.write()
  alerts.add('network.down', { network: 'beta' })
  await until('all are written', () => Promise.resolve(written.length === 3))
  t.strictSame(written, ['network.down alpha', 'network.up alpha', 'network.down beta'])
  alerts.write()
  alerts.add('key.rotated', {})
  await new Promise(setImmediate)
  t.equal(written.length, 3, 'each once, and what nobody wants never')
})
