import t from 'tap'
import { Blockhashes } from '../../src/families/blockhashes.ts'
import { Floors } from '../../src/routes/floors.ts'
import { Slots } from '../../src/routes/slots.ts'

t.test('what is finalized is confirmed and processed too, not the other way round', t => {
  const slots = new Slots()
  t.equal(slots.at('processed'), null)
  slots.tell('confirmed', 100, 1, 1)
  t.equal(slots.at('processed'), 100)
  t.equal(slots.at('confirmed'), 100)
  t.equal(slots.at('finalized'), null)
  slots.tell('processed', 105, 1, 1)
  slots.tell('finalized', 70, 1, 1)
  t.strictSame([slots.at('processed'), slots.at('confirmed'), slots.at('finalized')], [105, 100, 70])
  t.equal(slots.at('finalized height'), null, 'heights are counted apart')
  t.end()
})

t.test(
  'a look does not undo what was shown meanwhile; a node that went back is believed when it is asked',
  t => {
    const slots = new Slots()
    slots.tell('processed', 100, 10, 20)
    slots.tell('processed', 90, 15, 25)
    slots.show('processed', 95, 26)
    t.equal(slots.at('processed'), 100)
    slots.tell('processed', 90, 30, 31)
    t.equal(slots.at('processed'), 90)
    slots.show('processed', 92, 32)
    t.equal(slots.at('processed'), 92)
    t.end()
  },
)

t.test('another process hears when a look began, and when it was told', t => {
  const slots = new Slots()
  slots.tell('processed', 100, 10, 20)
  slots.show('confirmed', 90, 22)
  t.strictSame(slots.report(25), [
    { scale: 'processed', number: 100, asked: 15, told: 5 },
    { scale: 'confirmed', number: 90, asked: 3, told: 3 },
  ])
  slots.clear()
  t.strictSame([slots.at('processed'), slots.report(25)], [null, []])
  t.end()
})

t.test('floors hold for a reader, a network and how settled the read is', t => {
  const floors = new Floors()
  floors.show('one', 'sol', 100, 'confirmed')
  t.equal(floors.of('one', 'sol', 'processed'), 100)
  t.equal(floors.of('one', 'sol', 'confirmed'), 100)
  t.equal(floors.of('one', 'sol', 'finalized'), null)
  t.equal(floors.of('one', 'sol'), null)
  t.equal(floors.of('two', 'sol', 'confirmed'), null)
  t.equal(floors.of('one', 'other', 'confirmed'), null)
  floors.show('one', 'sol', 90, 'confirmed')
  t.equal(floors.of('one', 'sol', 'confirmed'), 100, 'it never goes down')
  t.end()
})

t.test('a blockhash is known at every route that gave it out', t => {
  const hashes = new Blockhashes()
  hashes.add('sol', 'hash', { route: 'a', slot: 10, commitment: 'confirmed' })
  hashes.add('sol', 'hash', { route: 'b', slot: 12, commitment: 'finalized' })
  hashes.add('sol', 'hash', { route: 'a', slot: 14, commitment: 'processed' })
  t.strictSame(hashes.find('sol', 'hash'), { routes: ['a', 'b'], slot: 10, commitment: 'confirmed' })
  t.equal(hashes.find('other', 'hash'), null)
  t.end()
})
