/** A worker's way to a keeper that hangs: it is there, its socket is accepted, and it says nothing. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { frameOf } from '../../../src/runtime/workers/channel.ts'
import { withRole } from '../../../src/runtime/workers/role.ts'
import { writeConfig } from '../../support/config-files.ts'
import { connectWorker, keeperAt } from '../../support/keeper.ts'
import { mainFile } from '../../support/paths.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { until } from '../../support/until.ts'

const bucket = { key: 'a', limit: { perSecond: 1, burst: 1 }, spent: 0, over: 0, want: 1 }

t.test('bug: a call waited for a keeper that hung as long as it did', async t => {
  const path = join(await tempDir(t), 'keeper.sock')
  const sockets: Socket[] = []
  let speaks = true
  const server = createServer(socket => {
    sockets.push(socket.resume())
    if (speaks) socket.write(frameOf({ t: 'hello', slot: 0, serves: '' }))
  })
  await new Promise<void>(resolve => server.listen(path, resolve))
  let hung = 0
  const client = await connectWorker(t, path, {
    hangs: () => {
      hung += 1
    },
  })
  speaks = false
  await t.rejects(client.ask([bucket]), /the connection was lost/)
  t.equal(hung, 1)
  await until('it is tried again', () => Promise.resolve(sockets.length >= 3))
  t.notOk(client.isConnected, 'whoever accepts and says nothing is not there')
  await t.rejects(client.ask([bucket]), /the keeper is away/)
  t.equal(hung, 1, 'it is said once')
  server.close()
  for (const socket of sockets) socket.destroy()
  await keeperAt(t, path)
  await until('the next one is there', () => Promise.resolve(client.isConnected))
  t.match(await client.ask([bucket]), [{ granted: 1 }])
})

t.test(
  'bug: a worker that was starting when its primary was killed held the socket for half a minute',
  async t => {
    const dir = await tempDir(t)
    await writeConfig(dir, { networks: {}, routes: [] })
    const role = { is: 'worker', slot: 1, workers: 1, fd: null, dataDir: dir } as const
    for (const delay of [0, 150, 600]) {
      const child = fork(mainFile, ['serve', '--config', dir], {
        env: withRole(process.env, role),
        stdio: 'ignore',
      })
      t.teardown(() => child.kill('SIGKILL'))
      await new Promise(resolve => setTimeout(resolve, delay))
      const begin = performance.now()
      child.disconnect()
      t.strictSame(await once(child, 'exit'), [1, null])
      t.ok(performance.now() - begin < 10_000, 'it does not wait for a keeper')
    }
  },
)
