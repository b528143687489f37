/** A backup beside a gateway rests between its pieces. */
import t from 'tap'
import { Pace } from '../../../src/stores/sqlite/backup/pace.ts'

function timeOf(isAlone: boolean) {
  const time = { now: 1_000, slept: [] as number[] }
  const pace = new Pace(
    { isAlone },
    {
      now: () => time.now,
      sleep: ms => {
        time.slept.push(ms)
        time.now += ms
      },
    },
  )
  return { time, pace }
}

t.test('an eighth of the time is worked, whatever the pieces', t => {
  const { time, pace } = timeOf(false)
  for (const worked of [10, 0, 300]) {
    time.now += worked
    pace.rest()
  }
  t.strictSame(time.slept, [70, 0, 2_100], 'a rest is no work')
  t.end()
})

t.test('nobody is spared where nobody is there', t => {
  const { time, pace } = timeOf(true)
  time.now += 300
  pace.rest()
  t.strictSame(time.slept, [])
  t.end()
})
