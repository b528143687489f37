/** Signals to a gateway that has not come up yet. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { Child, cleanEnvironment } from '../support/child.ts'
import { writeConfig } from '../support/config-files.ts'
import { mainFile, nodeFile } from '../support/paths.ts'
import { tempDir } from '../support/temp-dir.ts'
import { within } from '../support/until.ts'

t.test("bug: SIGUSR1 opened Node's debugger before a gateway was ready, and SIGHUP ended it", async t => {
  // Stands for a PostgreSQL for which a first start waits, so that the moment is known.
  const database = createServer().listen(0, '127.0.0.1')
  await once(database, 'listening')
  t.teardown(() => database.close())
  const { port } = database.address() as AddressInfo
  const dir = await tempDir(t)
  await writeConfig(dir, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: 'http://127.0.0.1:1' }],
    gateway: { postgres: { url: `postgres://tollgate:secret@127.0.0.1:${port}/tollgate` } },
  })
  const env = cleanEnvironment({ TOLLGATE_MASTER_KEY: randomBytes(32).toString('base64') })
  const asks = async (): Promise<void> => {
    const [socket] = (await within('it asks for PostgreSQL', once(database, 'connection'))) as [Socket]
    socket.destroy()
  }
  const first = asks()
  const gateway = new Child(nodeFile, [mainFile, 'serve', '--config', dir], env)
  t.teardown(() => {
    gateway.signal('SIGKILL')
  })
  await first
  for (const signal of ['SIGUSR1', 'SIGHUP', 'SIGUSR2'] as const) gateway.signal(signal)
  await asks()
  await asks()
  t.notMatch(gateway.stderr, 'Debugger listening')
  t.strictSame(await gateway.stop(), { code: null, signal: 'SIGTERM' })
})
