import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

/** Several times as long as the watcher waits for the end of an edit. */
const LONG_ENOUGH = 1_000

t.test(
  'with watch: false an edit waits for a reload, and so does the edit that has it watch again',
  async t => {
    const gateway = await startGateway(t, { networks: {}, routes: [], gateway: { watch: false } })
    const { version } = await gateway.status()
    const file = join(gateway.dir, 'gateway.yaml')
    const edit = (from: string, to: string) => {
      writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
    }
    edit('watch: false', 'watch: true')
    await pause(LONG_ENOUGH)
    t.equal((await gateway.status()).version, version)
    const reply = await fetch(`${gateway.adminUrl}/reload`, { method: 'POST' })
    t.match(await reply.json(), { ok: true, changes: [/watch/] })
    const next = (await gateway.status()).version
    t.not(next, version)
    edit('watch: true', 'watch: false')
    await until('it is taken', async () => (await gateway.status()).version === version)
  },
)

t.test('processes are named for ps', { skip: process.platform !== 'linux' && 'no /proc' }, async t => {
  const gateway = await startGateway(t, { networks: {}, routes: [] })
  t.equal(readFileSync(`/proc/${gateway.pid}/comm`, 'latin1'), 'tollgate\n')
})
