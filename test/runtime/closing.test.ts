import t from 'tap'
import { Closing } from '../../src/runtime/closing.ts'
import { registerDatabases } from '../../src/runtime/admin/gauges.ts'
import { Metrics } from '../../src/observe/metrics.ts'

t.test('bug: a step of closing that failed left open what was opened before it', async t => {
  const closing = new Closing()
  const closed: string[] = []
  for (const name of ['first', 'second', 'third'])
    closing.push(() => {
      closed.push(name)
      if (name !== 'first') throw new Error(name)
    })
  await t.rejects(closing.close(), { message: 'third' })
  t.strictSame(closed, ['third', 'second', 'first'])
})

t.test('bug: a data directory that was gone failed the last metrics of a process', async t => {
  const metrics = new Metrics()
  registerDatabases(`${t.testdir()}/gone`, metrics)
  t.notMatch(await metrics.text(), /^tollgate_database_bytes\{/m)
})
