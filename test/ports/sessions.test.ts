/** What every implementation of the port Sessions keeps to: on SQLite, on PostgreSQL, and a plain one in memory. */
import t from 'tap'
import type { Test } from 'tap'
import type { SignIn } from '../../src/ports/keys.ts'
import type { Sessions } from '../../src/ports/sessions.ts'
import type { AccountStore } from '../../src/stores/sqlite/accounts/store.ts'
import { openStore } from '../stores/accounts/support/open-store.ts'
import { openMachine, schemasOf } from '../stores/postgres/support/machines.ts'
import { plainSessions } from '../support/plain-sessions.ts'

/** One implementation, and how accounts come to be that sign in there. */
interface Made {
  readonly sessions: Sessions
  readonly account: () => Promise<SignIn>
}

function madeOf(store: AccountStore): Made {
  const account = async (): Promise<SignIn> => {
    const { dashboardToken } = await store.accounts.create({ name: 'Acme', plan: 'free' })
    return store.signIns.open(dashboardToken)!
  }
  return { sessions: store.sessions, account }
}

const schema = await schemasOf(t)
let accounts = 0
const implementations: Readonly<Record<string, (t: Test) => Promise<Made>>> = {
  sqlite: async t => madeOf((await openStore(t)).store),
  ...(schema && { postgres: async (t: Test) => madeOf((await openMachine(t, schema())).store) }),
  plain: async () => {
    const account = async (): Promise<SignIn> => {
      accounts += 1
      return Promise.resolve({ accountId: `acc_${accounts}`, tokenHash: 'ab'.repeat(32), endpointId: null })
    }
    return Promise.resolve({ sessions: plainSessions(), account })
  },
}

const START = 1_750_000_000_000
const minutes = (count: number): number => START + count * 60_000

/** Which of these sessions go on. */
async function going(sessions: Sessions, ids: readonly string[], now: number): Promise<boolean[]> {
  const found: boolean[] = []
  for (const id of ids) found.push((await sessions.find(id, now)) !== null)
  return found
}

for (const [name, make] of Object.entries(implementations)) {
  t.test(`${name}: a session gives what it was opened with, and no other id does`, async t => {
    const { sessions, account } = await make(t)
    const byToken = await account()
    const byKey = { ...(await account()), endpointId: 'ep_1' }
    const [token, key] = [await sessions.open(byToken, START), await sessions.open(byKey, START)]
    t.strictSame(await sessions.find(token, START), byToken)
    t.strictSame(await sessions.find(key, START), byKey)
    for (const id of ['', 'x', 'A'.repeat(43), `${token}A`, token.slice(1), token.toUpperCase(), '__proto__'])
      t.equal(await sessions.find(id, START), null, id)
  })

  t.test(
    `${name}: a session ends when it is idle for an hour, and after twelve hours in any case`,
    async t => {
      const { sessions, account } = await make(t)
      const signIn = await account()
      const idle = await sessions.open(signIn, START)
      t.strictSame(await sessions.find(idle, minutes(59)), signIn)
      t.strictSame(await sessions.find(idle, minutes(118)), signIn, 'each use begins the hour anew')
      t.equal(await sessions.find(idle, minutes(178)), null)

      const busy = await sessions.open(signIn, START)
      for (let at = 30; at < 12 * 60; at += 30)
        t.ok(await sessions.find(busy, minutes(at)), `after ${at} minutes`)
      t.equal(await sessions.find(busy, minutes(12 * 60)), null)
    },
  )

  t.test(`${name}: ids cannot be guessed, and ending one ends no other`, async t => {
    const { sessions, account } = await make(t)
    const signIn = await account()
    const ids: string[] = []
    for (let i = 0; i < 20; i++) ids.push(await sessions.open(signIn, START))
    t.equal(new Set(ids).size, 20)
    for (const id of ids) t.match(id, /^[\w-]{43}$/, '256 bits')
    await sessions.end(ids[3]!)
    await sessions.end(ids[3]!)
    for (const unknown of ['', 'x', 'A'.repeat(43)]) await sessions.end(unknown)
    const expected = ids.map((_, i) => i !== 3)
    t.strictSame(await going(sessions, ids, START + 1), expected)
  })

  t.test(`${name}: an account has at most twenty, and pushes out its own only`, async t => {
    const { sessions, account } = await make(t)
    const [mine, theirs] = [await account(), await account()]
    const other = await sessions.open(theirs, START)
    const ids: string[] = []
    for (let i = 0; i < 20; i++) ids.push(await sessions.open(mine, START + i))
    t.strictSame(await going(sessions, ids.slice(0, 2), minutes(10)), [true, true], 'used again')
    for (let i = 0; i < 5; i++) ids.push(await sessions.open(mine, minutes(11) + i))
    const expected = ids.map((_, i) => i < 2 || i >= 7)
    t.strictSame(await going(sessions, ids, minutes(12)), expected, 'the least recently used ones go')
    t.strictSame(await sessions.find(other, minutes(12)), theirs)
  })

  t.test(`${name}: sessions that open at once do not get past the twenty`, async t => {
    const { sessions, account } = await make(t)
    const signIn = await account()
    const opening = Array.from({ length: 30 }, (_, i) => sessions.open(signIn, START + i))
    const ids = await Promise.all(opening)
    t.strictSame(
      await going(sessions, ids, START + 30),
      ids.map((_, i) => i >= 10),
    )
  })
}
