import t from 'tap'
import { Outbox } from '../../src/subscriptions/client/outbox.ts'
import type { Charge } from '../../src/ports/journal.ts'

/** A commit that the test ends, and the charges that share it. */
function commit() {
  let end: (isOnDisk: boolean) => void = () => undefined
  const promise = new Promise<boolean>(resolve => (end = resolve))
  const charge = { commit: () => promise } as Charge
  return { charge, end: (isOnDisk: boolean) => (end(isOnDisk), promise) }
}

t.test('notifications leave when their charge is on disk, in order, and learn when it is not', async t => {
  const outbox = new Outbox()
  const left: string[] = []
  const push = (name: string, charge: Charge): void => {
    outbox.push(charge, committed => left.push(`${name} ${committed}`))
  }
  const [first, second] = [commit(), commit()]
  push('a', first.charge)
  push('b', first.charge)
  push('c', second.charge)
  t.strictSame(left, [])
  await first.end(true)
  t.strictSame(left, ['a true', 'b true'])
  push('d', second.charge)
  await second.end(false)
  t.strictSame(left.slice(2), ['c false', 'd false'])
})

t.test('what comes behind all that waits is done at once where nothing does', async t => {
  const outbox = new Outbox()
  const left: string[] = []
  const after = (name: string): void => {
    outbox.after(() => left.push(name))
  }
  after('nothing waits')
  t.strictSame(left.splice(0), ['nothing waits'])
  const [first, second] = [commit(), commit()]
  outbox.push(first.charge, () => left.push('a'))
  outbox.push(second.charge, () => left.push('b'))
  after('behind b')
  await first.end(true)
  after('behind b too')
  t.strictSame(left, ['a'])
  await second.end(true)
  after('last')
  t.strictSame(left, ['a', 'b', 'behind b', 'behind b too', 'last'])
})

t.test('a journal that answers at once keeps the order', async t => {
  const outbox = new Outbox()
  const left: string[] = []
  for (const name of ['a', 'b']) outbox.push({ commit: () => true } as Charge, () => left.push(name))
  outbox.after(() => left.push('c'))
  await Promise.resolve()
  t.strictSame(left, ['a', 'b', 'c'])
})
