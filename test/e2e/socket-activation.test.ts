import t from 'tap'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { openListeningSocket } from '../../src/runtime/workers/listening-socket.ts'
import { passedOn } from '../../src/runtime/workers/activation.ts'
import { cleanEnvironment } from '../support/child.ts'
import { writeConfig } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { get, send } from '../support/http.ts'
import { mainFile, nodeFile } from '../support/paths.ts'
import { startNode } from '../support/scripted-node.ts'
import { tempDir } from '../support/temp-dir.ts'
import { within } from '../support/until.ts'

/** Resolves when a gateway says that it is ready. */
async function ready({ stdout }: ChildProcess): Promise<void> {
  for (let text = ''; !text.includes('"ready"');) text += String((await once(stdout!, 'data'))[0])
}

const node = await startNode(t, { chainId: 1001 })

t.test('what was passed on is told by its names, or by its order', t => {
  const env = { LISTEN_PID: '7', LISTEN_FDS: '2', LISTEN_FDNAMES: 'admin:listen' }
  t.strictSame(passedOn(env, 7), { admin: 3, listen: 4 })
  t.strictSame(passedOn({ ...env, LISTEN_FDNAMES: 'tollgate.socket:tollgate.socket' }, 7), {
    listen: 3,
    admin: 4,
  })
  t.strictSame(passedOn({ ...env, LISTEN_FDNAMES: 'listen:listen' }, 7), { listen: 3, admin: 4 })
  t.strictSame(passedOn({ LISTEN_PID: '7', LISTEN_FDS: '1' }, 7), { listen: 3 })
  t.strictSame(passedOn(env, 8), {}, 'it is for another process')
  t.strictSame(passedOn({}, 7), {})
  t.end()
})

for (const workers of [1, 2])
  t.test(`connections wait while no gateway runs (${workers} at work)`, async t => {
    const dir = await tempDir(t)
    // Its own addresses are not used: nobody could listen on this one.
    await writeConfig(dir, {
      networks: { alpha: { chainId: 1001, public: true } },
      routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
      methods: fewMethods,
      gateway: {
        workers,
        listen: '192.0.2.1:1',
        admin: '192.0.2.1:2',
        timeouts: { drain: '2s', drainIdle: '100ms' },
      },
    })
    const sockets = [
      await openListeningSocket({ host: '127.0.0.1', port: 0 }),
      await openListeningSocket({ host: '127.0.0.1', port: 0 }),
    ] as const
    const [port, admin] = sockets.map(({ address }) => Number(address.split(':')[1])) as [number, number]
    const start = (): ChildProcess => {
      const line = 'LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=listen:admin exec "$0" "$@"'
      const child = spawn('sh', ['-c', line, nodeFile, mainFile, 'serve', '--config', dir], {
        env: cleanEnvironment(),
        stdio: ['ignore', 'pipe', 'inherit', ...sockets.map(({ fd }) => fd)],
      })
      t.teardown(() => child.kill('SIGKILL'))
      return child
    }
    const call = () =>
      send(port, {
        path: '/alpha/v1/rpc/public',
        method: 'POST',
        body: '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}',
        headers: { 'content-type': 'application/json' },
      })
    const first = start()
    await within('it is ready', ready(first))
    t.equal((await call()).status, 200)
    t.equal((await get(`http://127.0.0.1:${admin}/livez`)).text, 'ok\n')
    first.kill('SIGTERM')
    t.strictSame(await once(first, 'exit'), [0, null])
    const waiting = Promise.all([call(), call(), call()])
    const next = start()
    const serving = within('the next is ready', ready(next))
    t.strictSame(
      (await within('those that came meanwhile are served', waiting)).map(({ status }) => status),
      [200, 200, 200],
    )
    await serving
    next.kill('SIGTERM')
    t.strictSame(await once(next, 'exit'), [0, null])
    for (const socket of sockets) socket.close()
  })
