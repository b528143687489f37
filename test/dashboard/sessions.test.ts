import t from 'tap'
import { Sessions } from '../../src/http/dashboard/sessions.ts'

const grant = (accountId: string) => ({ accountId, tokenHash: 'hash', endpointId: null })
const minutes = (count: number) => count * 60_000

t.test('a session ends when it is idle for an hour, and after twelve hours in any case', t => {
  const sessions = new Sessions()
  const idle = sessions.open(grant('a'), 0)
  t.strictSame(sessions.find(idle, minutes(59)), grant('a'))
  t.strictSame(sessions.find(idle, minutes(118)), grant('a'), 'each use begins the hour anew')
  t.equal(sessions.find(idle, minutes(178)), null)
  t.equal(sessions.find(idle, minutes(118)), null, 'ended is ended')

  const busy = sessions.open(grant('a'), 0)
  for (let at = 30; at < 12 * 60; at += 30) t.ok(sessions.find(busy, minutes(at)), `after ${at} minutes`)
  t.equal(sessions.find(busy, minutes(12 * 60)), null)
  t.end()
})

t.test('ids cannot be guessed, and ending one ends no other', t => {
  const sessions = new Sessions()
  const ids = Array.from({ length: 20 }, () => sessions.open(grant('a'), 0))
  t.equal(new Set(ids).size, 20)
  for (const id of ids) t.match(id, /^[\w-]{43}$/, '256 bits')
  sessions.end(ids[3]!)
  t.strictSame(
    ids.map(id => sessions.find(id, 1) !== null),
    ids.map((_, i) => i !== 3),
  )
  t.end()
})

t.test('an account has at most twenty, and pushes out its own only', t => {
  const sessions = new Sessions()
  const other = sessions.open(grant('b'), 0)
  const ids = Array.from({ length: 25 }, (_, i) => sessions.open(grant('a'), i))
  t.strictSame(
    ids.map(id => sessions.find(id, 100) !== null),
    ids.map((_, i) => i >= 5),
    'the ones unused for longest go',
  )
  t.ok(sessions.find(other, 100))
  t.end()
})
