/** What an owner sees and changes of the account itself: its alerts and its audit trail. */
import t from 'tap'
import type { AuditQuery } from '../../src/ports/audit.ts'
import { callService } from '../../src/management/call.ts'
import { account, deps, endpoint, invalid, snapshot } from './support/deps.ts'

const caller = { account, endpoint }
const plans = (quota: object | null, alerts: object | null = null) => ({
  ...snapshot,
  plans: { free: { name: 'free', tiers: ['any'], quota, alerts } },
  gateway: { alerts: { quota: [0.75, 1], allowPrivate: false } },
})

t.test('service_alerts tells where events go, in short, and of which parts of the quota', async t => {
  const hook = { url: 'https://hooks.example.com/services/T0/secret', secret: 'whsec_x' }
  const ask = async (given: object, url: typeof hook | null) =>
    callService('service_alerts', [], caller, {
      ...deps({ alerts: { webhook: () => url } }),
      snapshot: given as typeof snapshot,
    })
  const quota = { requests: 10, every: 'month' }
  t.strictSame(await ask(plans(quota), hook), {
    result: { webhook: 'https://hooks.example.com/services/…', quota: [0.75, 1] },
  })
  t.strictSame(await ask(plans(quota, { quota: [0.5] }), null), { result: { webhook: null, quota: [0.5] } })
  t.strictSame(await ask(plans(null), null), { result: { webhook: null, quota: [] } }, 'no quota, no parts')
})

t.test('service_setAlerts sets and removes the webhook, and shows its secret once', async t => {
  const set: unknown[] = []
  const ports = {
    ...deps({
      alerts: {
        setWebhook(...args) {
          set.push(args)
          return Promise.resolve(args[1] === null ? null : { url: args[1], secret: 'whsec_new' })
        },
      },
    }),
    snapshot: plans(null) as unknown as typeof snapshot,
  }
  const ask = (webhook: unknown, by: object = caller) =>
    callService('service_setAlerts', [{ webhook }], by as typeof caller, ports)
  t.strictSame(await ask('https://hooks.example.com/x'), {
    result: { webhook: 'https://hooks.example.com/…', secret: 'whsec_new' },
  })
  t.strictSame(await ask(null, { account }), { result: { webhook: null } })
  t.strictSame(set, [
    ['acc_1', 'https://hooks.example.com/x', { actor: 'owner:ep_1' }],
    ['acc_1', null, { actor: 'owner:dashboard' }],
  ])
  t.strictSame(await ask('ftp://x'), invalid('webhook must be a URL such as "https://hooks.example.com/x"'))
  t.strictSame(await ask('http://hooks.example.com/x'), invalid('webhook must be https'))
  t.strictSame(
    await ask('https://127.0.0.1/x'),
    invalid('webhook must lead to a public address, not into the network of the gateway'),
  )
  t.equal(set.length, 2, 'what is wrong is not written')
})

t.test("service_audit shows the account's own trail, without what is the operator's", async t => {
  const queries: AuditQuery[] = []
  const entry = { seq: 9, at: 1_700_000_000, target: 'acc_1', accountId: 'acc_1' }
  const ports = deps({
    audit: {
      read(query) {
        queries.push(query)
        return {
          entries: [
            {
              ...entry,
              actor: 'token:tok_secret',
              action: 'account.changed' as const,
              before: { plan: 'free', labels: { crm: '1' }, email: null },
              after: { plan: 'paid', labels: { crm: '2' }, email: 'a@b.example', externalId: 'x' },
            },
            {
              ...entry,
              seq: 8,
              target: 'ep_1',
              actor: 'owner:ep_1',
              action: 'key.rotated' as const,
              before: null,
              after: null,
            },
          ],
          next: 8,
        }
      },
    },
  })
  t.strictSame(await callService('service_audit', [{ limit: 2, before: 99 }], caller, ports), {
    result: {
      entries: [
        {
          time: 1_700_000_000,
          actor: 'operator',
          action: 'account.changed',
          target: 'acc_1',
          before: { plan: 'free' },
          after: { plan: 'paid' },
        },
        {
          time: 1_700_000_000,
          actor: 'owner:ep_1',
          action: 'key.rotated',
          target: 'ep_1',
          before: null,
          after: null,
        },
      ],
      next: 8,
    },
  })
  t.strictSame(queries, [{ from: null, to: null, actor: null, target: 'acc_1', before: 99, limit: 2 }])
  t.strictSame(
    await callService('service_audit', [{ limit: 101 }], caller, ports),
    invalid('limit must be a whole number from 1 to 100'),
  )
  t.equal(await callService('service_audit', [], null, ports), null, 'not without a key')
})
