import t from 'tap'
import { FreeEnds } from '../../src/limits/free-ends.ts'

t.test('an owner ends as many filters for free as it made', t => {
  const free = new FreeEnds()
  t.notOk(free.has('ep_1'))
  free.add('ep_1')
  free.add('ep_1')
  t.notOk(free.has('ep_2'), 'nobody else does')
  free.use('ep_1')
  t.ok(free.has('ep_1'))
  free.use('ep_1')
  t.notOk(free.has('ep_1'))
  free.use('ep_1')
  free.add('ep_1')
  t.ok(free.has('ep_1'), 'an end that was not free is not owed')
  t.end()
})

t.test('what may be left is bounded', t => {
  const free = new FreeEnds()
  for (let i = 0; i < 5_000; i++) free.add('ep_1')
  let uses = 0
  for (; free.has('ep_1') && uses < 6_000; uses++) free.use('ep_1')
  t.equal(uses, 1_000)
  t.end()
})
