import t from 'tap'
import { QuotaAlerts } from '../../src/alerts/quota.ts'
import type { QuotaAlertsParts } from '../../src/alerts/quota.ts'

const NOW = Date.UTC(2026, 10, 24)
const START = Date.UTC(2026, 10, 1) / 1000

function open(quota: number | null, parts: readonly number[], fails: () => boolean = () => false) {
  const raised: string[] = []
  const state = { now: NOW, epoch: 0, plan: 'p', looked: 0 }
  const plans = {
    p: { name: 'p', quota: quota === null ? null : { requests: quota, every: 'month' }, alerts: null },
    large: { name: 'large', quota: { requests: 10_000, every: 'month' }, alerts: { quota: [0.5] } },
  }
  const alerts = new QuotaAlerts({
    find: id => (state.looked++, { id, name: 'Acme', plan: state.plan, createdAt: 0 }) as never,
    snapshot: () =>
      ({ plans, gateway: { alerts: { quota: parts } } }) as unknown as ReturnType<
        QuotaAlertsParts['snapshot']
      >,
    epoch: () => state.epoch,
    raise: (alert, once) => {
      if (fails()) return Promise.reject(new Error('locked'))
      raised.push(`${String(alert.data['threshold'])} ${String(alert.data['used'])} ${once}`)
      return Promise.resolve(true)
    },
    now: () => state.now,
  })
  const spend = (requests: number, start = START) => {
    alerts.spent([{ account: 'acc_1', start, requests }])
    return raised.splice(0).map(each => each.split(' ').slice(0, 2).join(' '))
  }
  return { alerts, spend, state }
}

t.test('each part is raised when it is reached, and accounts are looked up only then', t => {
  const { alerts, spend, state } = open(1000, [0.75, 0.9, 1])
  t.strictSame(spend(749), [])
  t.equal(state.looked, 1)
  for (let n = 700; n < 749; n += 1) t.strictSame(spend(n), [])
  t.equal(state.looked, 1, 'nothing is asked below the next mark')
  t.strictSame(spend(750), ['75% 750'])
  t.equal(alerts.nearlySpent, 0)
  t.strictSame(spend(1000), ['75% 1000', '90% 1000', '100% 1000'], 'the store knows which were raised before')
  t.equal(alerts.nearlySpent, 1)
  state.now = Date.UTC(2026, 11, 1)
  t.equal(alerts.nearlySpent, 0, 'a new window is empty')
  t.strictSame(spend(2000), [], 'the window of before is over')
  t.end()
})

t.test('another plan has another quota, and an account without one is told of nothing', t => {
  const { alerts, spend, state } = open(1000, [0.75])
  t.strictSame(spend(950), ['75% 950'])
  t.equal(alerts.nearlySpent, 1)
  state.plan = 'large'
  state.epoch = 1
  t.strictSame(spend(951), [])
  t.equal(alerts.nearlySpent, 0)
  t.strictSame(spend(5000), ['50% 5000'])
  t.strictSame(open(null, [0.75]).spend(10 ** 6), [])
  t.end()
})

t.test('what could not be kept is tried again', async t => {
  let fails = true
  const { spend } = open(100, [0.5], () => fails)
  t.strictSame(spend(60), [])
  await new Promise(setImmediate)
  fails = false
  t.strictSame(spend(61), ['50% 61'])
})
