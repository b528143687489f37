import t from 'tap'
import { callService } from '../../src/management/call.ts'
import { account, deps, endpoint } from './support/deps.ts'

t.test('service_account', async t => {
  const ports = deps({
    endpoints: { count: id => (id === 'acc_1' ? 7 : 0) },
    quota: ({ id }) => (id === 'acc_1' ? { requests: 3_000_000, used: 42, resetsAt: 1_760_000_000 } : null),
  })
  const outcome = await callService('service_account', [], { account, endpoint }, ports)
  const expected = {
    accountId: 'acc_1',
    name: 'Acme',
    plan: 'free',
    createdAt: 1_600_000_000,
    quota: { requests: 3_000_000, used: 42, resetsAt: 1_760_000_000 },
    rate: { perSecond: 25, burst: 50 },
    endpoints: { used: 7, limit: 100 },
  }
  t.strictSame(outcome, { result: expected })
  t.equal(JSON.stringify(outcome), JSON.stringify({ result: expected }), 'the order of the fields too')
})

t.test('no quota and no rate are null', async t => {
  const ports = deps({ endpoints: { count: () => 0 }, quota: () => null })
  for (const plan of ['unlimited', 'removed', '__proto__']) {
    const caller = { account: { ...account, plan }, endpoint }
    t.match(await callService('service_account', [], caller, ports), {
      result: { plan, quota: null, rate: null },
    })
  }
})

t.test('a quota that cannot be read now is an error, not none', async t => {
  const ports = deps({ endpoints: { count: () => 0 }, quota: () => 'unreadable' })
  t.match(await callService('service_account', [], { account, endpoint }, ports), {
    error: { code: -32603, data: { reason: 'journal_unavailable' } },
  })
})
