/** Files of a data directory that go away under a running gateway: no command and no second gateway begins a new one there. */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
import type { ConfigOptions } from '../support/config-files.ts'
import { writeConfig } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { freePort } from '../support/free-port.ts'
import { serve, startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { tempDir } from '../support/temp-dir.ts'
import { within } from '../support/until.ts'

const node = await startNode(t, { chainId: 1001 })
const configOf = (gateway: ConfigOptions['gateway'] = {}): ConfigOptions => ({
  networks: { alpha: { chainId: 1001 } },
  methods: fewMethods,
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  gateway,
})
const CREATE = ['account', 'create', 'acme', '--plan', 'paid']

t.test('a directory that was removed is not made anew beside the gateway that uses it', async t => {
  const gateway = await startGateway(t, configOf({ admin: `127.0.0.1:${await freePort()}` }))
  const { dir } = gateway
  await createAccess(gateway, 'paid', 'alpha')
  const data = join(dir, 'data')
  const aside = join(dir, 'aside')
  renameSync(data, aside)
  const why = `a gateway (process ${gateway.pid}) runs on ${data}, and its files were removed while it ran: stop it and restore them from a backup`
  for (const args of [CREATE, [...CREATE, '--init'], ['account', 'list'], ['usage']]) {
    const { code, stderr } = await run([...args, '--config', dir])
    t.strictSame([code, stderr], [1, `tollgate: ${why}\n`], args.join(' '))
  }
  const checked = await run(['check', '--data', '--config', dir])
  t.equal(checked.code, 1)
  t.ok(checked.stdout.includes(`dataDir: ${why}\n`), checked.stdout)
  const second = serve(dir)
  t.strictSame(await within('a start that fails', second.exited), { code: 1, signal: null })
  t.equal(second.stderr, `tollgate: ${why}\n`)
  t.notOk(existsSync(data), 'nothing was made')

  renameSync(aside, data)
  await gateway.stop()
  await gateway.start()
  t.match(await run(['account', 'list', '--config', dir]), { code: 0 }, 'restored, all is as before')
  t.match(await run(['check', '--data', '--config', dir]), { code: 0 })
})

t.test('a second gateway knows the first without its lock', async t => {
  const gateway = await startGateway(t, configOf())
  const data = join(gateway.dir, 'data')
  const other = await tempDir(t)
  await writeConfig(other, configOf({ dataDir: data }))
  rmSync(join(data, 'serve.lock'))
  const before = readdirSync(data)
  for (const dir of [gateway.dir, other]) {
    const second = serve(dir)
    t.strictSame(await within('a start that fails', second.exited), { code: 1, signal: null })
    t.equal(second.stderr, `tollgate: another tollgate serve is using ${data}\n`)
  }
  t.strictSame(readdirSync(data), before)
  t.match(await run(['check', '--data', '--config', other]), {
    code: 1,
    stdout: `dataDir: another tollgate serve is using ${data}\n`,
  })
  await gateway.kill9()
  await gateway.start()
  t.pass('one that was killed keeps nobody out')
})
