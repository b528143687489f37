/** What the audit trail in accounts.db bounds, besides what every implementation of its port does (test/ports/accounts.test.ts). */
import t from 'tap'
import type { Test } from 'tap'
import { OWNER_ENTRIES } from '../../../src/ports/audit.ts'
import type { AuditQuery } from '../../../src/ports/audit.ts'
import { openStore } from './support/open-store.ts'

const NOW = 1_750_000_000
const ALL: AuditQuery = { from: null, to: null, actor: null, target: null, before: null, limit: 1_000 }
const origins = (from: number) =>
  Array.from(
    { length: 100 },
    (_, i) => `https://${String(from + i).padStart(6, '0')}.${'x'.repeat(200)}.example`,
  )

async function open(t: Test) {
  const clock = { now: NOW }
  const { store } = await openStore(t, { now: () => clock.now })
  const { account } = await store.accounts.create({ name: 'Acme', plan: 'free' })
  const endpoint = await store.endpoints.create({ accountId: account.id, network: 'bsc' })
  if (typeof endpoint === 'string') throw new Error(endpoint)
  const by = { actor: `owner:${endpoint.id}` } as const
  const change = (wish: object) => store.endpoints.change(account.id, endpoint.id, wish, by)
  return { store, clock, account, endpoint, by, change }
}

t.test('bug: an entry had a hundred origins before and after in full, 49 KB of them', async t => {
  const { store, change } = await open(t)
  await change({ allowedOrigins: origins(0) })
  await change({ allowedOrigins: [...origins(0).slice(1), 'https://new.example'] })
  await change({ allowedOrigins: origins(1_000) })
  const { entries } = await store.audit.read({ ...ALL, limit: 3 })
  for (const { before, after } of entries) t.ok(JSON.stringify({ before, after }).length < 4_096)
  const [all, one] = entries
  t.match(one, {
    before: { allowedOrigins: { count: 100, removed: [origins(0)[0]] } },
    after: { allowedOrigins: { count: 100, added: ['https://new.example'] } },
  })
  t.match(all, {
    before: { allowedOrigins: { count: 100, removed: origins(0).slice(1, 3), more: 98 } },
    after: { allowedOrigins: { count: 100, added: origins(1_000).slice(0, 2), more: 98 } },
  })
})

t.test('bug: an owner could fill the disk: beyond so many in 24 hours changes are counted', async t => {
  const { store, clock, account, endpoint, by, change } = await open(t)
  for (let i = 2; i < OWNER_ENTRIES; i += 1) await change({ name: `n${i}` })
  await change({ name: 'beyond' })
  await change({ status: 'inactive' })
  clock.now += 10
  await change({ allowedIps: ['10.0.0.1'] })
  await store.endpoints.rotateKey(account.id, endpoint.id, 0, by)
  await store.accounts.change(account.id, { plan: 'paid' }, { actor: 'token:tok_1' })
  const read = async (limit: number) => (await store.audit.read({ ...ALL, limit })).entries
  const [operator, rotated, counted, last] = await read(4)
  t.match(operator, { actor: 'token:tok_1', before: { plan: 'free' } }, 'what others change is as ever')
  const ids = { actor: 'owner:many', target: account.id, accountId: account.id, before: null }
  t.strictSame(rotated, {
    ...ids,
    seq: rotated!.seq,
    at: NOW + 10,
    action: 'key.rotated',
    after: { changes: 1, until: NOW + 10, by: [by.actor], of: [endpoint.id], members: ['oldKeyExpiresAt'] },
  })
  t.strictSame(counted, {
    ...ids,
    seq: counted!.seq,
    at: NOW,
    action: 'endpoint.changed',
    after: {
      changes: 3,
      until: NOW + 10,
      by: [by.actor],
      of: [endpoint.id],
      members: ['name', 'status', 'allowedIps'],
    },
  })
  t.match(last, { actor: by.actor, after: { name: `n${OWNER_ENTRIES - 1}` } })
  clock.now += 3_600
  await change({ status: 'active' })
  t.match(await read(1), [{ actor: 'owner:many', at: clock.now, after: { changes: 1, members: ['status'] } }])
  clock.now += 86_400
  await change({ name: 'next day' })
  t.match(await read(1), [{ actor: by.actor, after: { name: 'next day' } }])
})

t.test('bug: a page had a thousand entries however long they were', async t => {
  const { store } = await open(t)
  const entry = { action: 'config.rejected', target: 'v', accountId: null, before: null } as const
  const problems = { a: 'x'.repeat(500), b: 'x'.repeat(500), c: 'x'.repeat(500), d: 'x'.repeat(500) }
  for (let i = 0; i < 300; i += 1) await store.audit.record({ ...entry, after: { i, ...problems } }, 'cli')
  const seen: unknown[] = []
  let pages = 0
  for (let before: number | null = null, isOver = false; !isOver; pages += 1) {
    const page = await store.audit.read({ ...ALL, target: 'v', before })
    t.ok(JSON.stringify(page).length < 350_000)
    seen.push(...page.entries.map(({ after }) => after?.['i']))
    before = page.next
    isOver = before === null
  }
  t.strictSame(
    seen,
    Array.from({ length: 300 }, (_, i) => 299 - i),
  )
  t.equal(pages, 3)
})
