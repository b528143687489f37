/** What a process keeps for the one after it. */
import { readFileSync, mkdirSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { StateFile } from '../../src/stores/sqlite/state-file.ts'

const none = (error: Error): void => {
  t.error(error)
}

t.test('a part is there for the next process of the same gateway, block times for any', async t => {
  const dir = t.testdir({})
  const first = new StateFile(dir, 'one', none)
  t.equal(first.read('reloads'), null)
  void first.keep('reloads', { version: 'a' })
  void first.keep('paces', { eth: 1 })
  await first.keep('reloads', { version: 'b' })
  t.strictSame(first.read('reloads'), { version: 'b' })
  t.equal(statSync(join(dir, 'state.json')).mode & 0o777, 0o600)
  const next = new StateFile(dir, 'one', none)
  t.strictSame([next.read('reloads'), next.read('paces')], [{ version: 'b' }, { eth: 1 }])
  for (const gateway of ['another', null]) {
    const other = new StateFile(dir, gateway, none)
    t.strictSame([other.read('reloads'), other.read('paces')], [null, { eth: 1 }])
  }
})

t.test('parts of another gateway are gone with the first write', async t => {
  const dir = t.testdir({ 'state.json': '{"gateway":"one","paces":{"eth":1},"reloads":{"version":"a"}}' })
  await new StateFile(dir, 'another', none).keep('counters', { ended: '' })
  t.strictSame(JSON.parse(readFileSync(join(dir, 'state.json'), 'utf8')), {
    gateway: 'another',
    paces: { eth: 1 },
    counters: { ended: '' },
  })
})

t.test('a file that is none is as no file, and one that cannot be written is told once', async t => {
  const dir = t.testdir({})
  for (const text of ['{"gateway":"one","rel', '[]', 'null', '1', '']) {
    writeFileSync(join(dir, 'state.json'), text)
    t.equal(new StateFile(dir, 'one', none).read('reloads'), null, text)
  }
  mkdirSync(join(dir, 'state.json.new'))
  const failures: Error[] = []
  const state = new StateFile(dir, 'one', error => failures.push(error))
  for (let i = 0; i < 3; i += 1) await state.keep('paces', { eth: i })
  t.match(failures, [{ code: 'EISDIR' }])
  t.strictSame(state.read('paces'), { eth: 2 })
  rmdirSync(join(dir, 'state.json.new'))
  await state.keep('paces', { eth: 3 })
  t.strictSame(new StateFile(dir, null, none).read('paces'), { eth: 3 })
})
