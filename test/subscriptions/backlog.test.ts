import t from 'tap'
import type { Message } from '../../src/ports/subscriptions.ts'
import { Backlog } from '../../src/subscriptions/socket/backlog.ts'
import { EarlyNotifications } from '../../src/subscriptions/socket/early.ts'
import { FloodGauge } from '../../src/subscriptions/socket/flood.ts'
import { Member } from '../../src/subscriptions/shared/listener.ts'

const MiB = 2 ** 20

/** A budget that remembers what is taken of it. */
function budgetOf(most: number) {
  const budget = {
    taken: 0,
    take(bytes: number): boolean {
      if (budget.taken + bytes > most) return false
      budget.taken += bytes
      return true
    },
    giveBack(bytes: number): void {
      budget.taken -= bytes
    },
  }
  return budget
}

t.test('a backlog is bounded by number, by bytes and by a budget, and gives all of it back', t => {
  const budget = budgetOf(3 * MiB)
  const backlog = new Backlog<number>(budget, { messages: 3, bytes: 2 * MiB })
  t.ok(backlog.push(1, MiB))
  t.notOk(backlog.push(2, MiB), 'its own overhead counts')
  t.ok(backlog.push(3, 10))
  t.ok(backlog.push(4, 0))
  t.notOk(backlog.push(5, 0), 'three are the most')
  t.ok(budget.taken > MiB)
  t.strictSame(backlog.drain(), [1, 3, 4])
  t.equal(budget.taken, 0)
  t.strictSame(backlog.drain(), [])
  t.ok(budget.take(3 * MiB))
  t.notOk(backlog.push(6, 0), 'the budget is spent elsewhere')
  t.equal(budget.taken, 3 * MiB)
  t.end()
})

const notification = (subscription: string, result: string) =>
  ({ kind: 'notification', method: 'eth_subscription', subscription, result }) as const

t.test('early notifications are found by id, in order', t => {
  const budget = budgetOf(8 * MiB)
  const early = new EarlyNotifications(budget)
  for (const [id, result] of [
    ['"a"', '1'],
    ['"b"', '2'],
    ['"a"', '3'],
  ] as const)
    t.ok(early.add(notification(id, result)))
  t.strictSame(
    early.take('"a"')?.map(({ result }) => result),
    ['1', '3'],
  )
  t.strictSame(early.take('"a"'), [])
  t.equal(early.take('"b"')?.length, 1)
  t.equal(budget.taken, 0)
  t.end()
})

t.test('beyond 1 000 or 8 MiB nothing is known of any id, until no request is in flight', t => {
  for (const size of [1, 64 * 1024]) {
    const budget = budgetOf(Infinity)
    const early = new EarlyNotifications(budget)
    let kept = 0
    while (early.add(notification(`"${kept}"`, 'x'.repeat(size)))) kept++
    t.ok(kept <= 1_000 && kept * size <= 8 * MiB, `${kept} of ${size}`)
    t.equal(budget.taken, 0)
    t.equal(early.take('"0"'), null)
    t.equal(early.add(notification('"0"', '1')), false)
    early.clear()
    t.strictSame(early.take('"0"'), [])
  }
  t.end()
})

t.test('a member hears nothing before it is told its id, and is lost once when too much waits', t => {
  const budget = budgetOf(Infinity)
  const heard: string[] = []
  const listener = {
    message: ({ result }: Message) => heard.push(result),
    lost: (why: string) => heard.push(`lost: ${why}`),
  }
  const member = new Member(listener, 'one', budget)
  const tell = (to: Member, result: string): void => {
    to.message({ result, height: null, route: 'a', last: false })
  }
  tell(member, '1')
  tell(member, '2')
  t.strictSame(heard, [])
  member.start()
  tell(member, '3')
  t.strictSame(heard.splice(0), ['1', '2', '3'])
  const slow = new Member(listener, 'one', budget)
  for (let i = 0; i < 30_000; i++) tell(slow, 'x')
  t.strictSame(heard, ['lost: messages came faster than the subscription could be answered'])
  t.equal(budget.taken, 0)
  t.end()
})

t.test('a rate is measured over ten seconds', t => {
  const gauge = new FloodGauge({ messages: 3, bytes: 100 })
  t.strictSame(
    [0, 1, 2, 3, 10_000].map(now => gauge.add(1, now)),
    [false, false, false, true, false],
  )
  t.ok(gauge.add(100, 10_001), 'bytes count as well')
  t.end()
})
