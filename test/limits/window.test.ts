import t from 'tap'
import { hourAt, windowAt } from '../../src/limits/window.ts'

const day = 86_400_000

t.test('a fixed window runs from the creation of the account', t => {
  t.strictSame(windowAt(30 * day, 1_000, 1_000_000), { start: 1_000, end: 1_000 + 30 * 86_400 })
  const later = (1_000 + 30 * 86_400) * 1000
  t.equal(windowAt(30 * day, 1_000, later - 1).start, 1_000)
  t.equal(windowAt(30 * day, 1_000, later).start, 1_000 + 30 * 86_400)
  t.equal(windowAt(30 * day, 1_000, 0).start, 1_000, 'a clock before the creation')
  t.end()
})

t.test('a month is the calendar month in UTC', t => {
  const at = Date.UTC(2026, 11, 31, 23, 59, 59)
  t.strictSame(windowAt('month', 0, at), { start: Date.UTC(2026, 11) / 1000, end: Date.UTC(2027, 0) / 1000 })
  t.end()
})

t.test('hours are cut down', t => {
  t.equal(hourAt(3_600_000 * 5 + 3_599_999), 5 * 3600)
  t.end()
})
