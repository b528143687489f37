import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { ReplyTurns } from '../../src/routes/transport/reply-turns.ts'

const MiB = 1024 * 1024
/** Bytes of long replies a turn. */
const TURN = MiB / 2

t.test('long replies are read half a mebibyte a turn, in order; short ones at once', async t => {
  const turns = new ReplyTurns()
  const read: string[] = []
  const take = (name: string, bytes: number): void => {
    turns.take(bytes, () => read.push(name))
  }
  for (const name of ['a', 'b', 'c']) take(name, TURN / 2)
  take('d', 16 * MiB)
  take('short', 1_000)
  t.strictSame(read, ['a', 'b', 'short'])
  await turn()
  t.strictSame(read.splice(0), ['a', 'b', 'short', 'c'])
  take('e', TURN / 2)
  take('short', 64 * 1024)
  t.strictSame(read.splice(0), ['short'], 'nobody overtakes one that waits, but for short ones')
  await turn()
  t.strictSame(read.splice(0), ['d'])
  await turn()
  t.strictSame(read.splice(0), ['e'])
  await turn()
  take('f', TURN / 2)
  t.strictSame(read, ['f'], 'a turn of its own')
})

t.test('replies that come in pieces rest where a turn has taken in enough, and go on in turns', async t => {
  const turns = new ReplyTurns()
  const KiB64 = 64 * 1024
  t.ok(turns.count(KiB64, KiB64), 'the first piece counts for nothing')
  for (let i = 0; i < TURN / KiB64; i += 1) t.ok(turns.count(KiB64, MiB), `piece ${i}`)
  t.notOk(turns.count(KiB64, MiB), 'half a mebibyte is enough')
  const gone: number[] = []
  for (let i = 0; i < 12; i += 1) turns.rest(KiB64, () => gone.push(i))
  t.strictSame(gone, [])
  await turn()
  t.equal(gone.length, TURN / KiB64)
  t.notOk(turns.count(KiB64, MiB), 'nobody overtakes one that waits')
  t.ok(turns.count(KiB64, KiB64), 'but for short ones')
  await turn()
  t.strictSame(
    gone,
    Array.from({ length: 12 }, (_, i) => i),
  )
  await turn()
  t.ok(turns.count(KiB64, MiB))
})
