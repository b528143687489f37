/** Floors that processes of one machine pass on to each other. */
import t from 'tap'
import { Floors } from '../../src/routes/floors.ts'

t.test('each rise of the highest block is told once, by network and scale', t => {
  let now = 0
  const floors = new Floors(() => now)
  const rises: unknown[] = []
  floors.whenRisen((...rise) => rises.push(rise))
  floors.show('one', 'eth', 100)
  floors.show('two', 'eth', 100)
  floors.show('two', 'eth', 99)
  floors.show('two', 'eth', 101, 'head', 'a')
  floors.show('one', 'sol', 7, 'finalized')
  floors.show('one', 'sol', 7, 'confirmed')
  floors.show('one', 'sol', 8, 'finalized')
  t.strictSame(rises, [
    ['eth', 'head', 100, null],
    ['eth', 'head', 101, 'a'],
    ['sol', 'finalized', 7, null],
    ['sol', 'confirmed', 7, null],
    ['sol', 'finalized', 8, null],
  ])
  now = 4_999
  floors.show('one', 'eth', 101)
  t.equal(rises.length, 5)
  now = 5_000
  floors.show('one', 'eth', 101)
  t.strictSame(rises.slice(5), [['eth', 'head', 101, null]], 'elsewhere that floor has yielded')
  t.end()
})

t.test(
  'a block that another process has shown is a floor for every reader until it yields, without an echo',
  t => {
    let now = 1_000
    const floors = new Floors(() => now)
    const rises: unknown[] = []
    floors.whenRisen((...rise) => rises.push(rise))
    const all = () => [floors.of('one', 'eth'), floors.of('two', 'eth'), floors.of('one', 'other')]
    t.strictSame(all(), [null, null, null])
    floors.raise('eth', 'head', 100)
    t.strictSame(all(), [100, 100, null])
    floors.raise('eth', 'head', 90)
    t.strictSame(all(), [100, 100, null], 'it never goes down')
    floors.show('one', 'eth', 100)
    t.strictSame(rises, [], 'it is known there')
    floors.show('one', 'eth', 102)
    t.strictSame(rises, [['eth', 'head', 102, null]])
    t.strictSame(all(), [102, 100, null], 'what one reader saw here holds for that one')
    floors.raise('sol', 'confirmed', 50)
    t.equal(floors.of('one', 'sol', 'processed'), 50)
    t.equal(floors.of('one', 'sol', 'finalized'), null)
    now = 5_999
    t.equal(floors.of('two', 'eth'), 100)
    now = 6_000
    t.equal(floors.of('two', 'eth'), null)
    floors.raise('eth', 'head', 95)
    t.equal(floors.of('two', 'eth'), 95, 'a lower one counts once the other has yielded')
    t.end()
  },
)
