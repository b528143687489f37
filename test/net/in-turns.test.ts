import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { InTurns } from '../../src/net/in-turns.ts'

t.test(
  'work is done in order, none of it in the turn that adds it, and for two milliseconds of each',
  async t => {
    let now = 0
    t.intercept(performance, 'now', { value: () => now })
    const turns = new InTurns()
    const done: string[] = []
    const add = (name: string, ms: number, then = (): void => undefined): void => {
      turns.add(() => {
        done.push(name)
        now += ms
        then()
      })
    }
    add('a', 1)
    add('b', 1, () => {
      add('added meanwhile', 0)
    })
    add('c', 0.5)
    add('d', 0)
    t.strictSame(done, [])
    await turn()
    t.strictSame(done.splice(0), ['a', 'b', 'c'])
    await turn()
    t.strictSame(done.splice(0), ['d', 'added meanwhile'])
    await turn()
    add('later', 9)
    add('last', 9)
    await turn()
    t.strictSame(done.splice(0), ['later'])
    await turn()
    t.strictSame(done, ['last'])
  },
)
