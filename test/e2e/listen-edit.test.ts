/** An edit of `listen` under a running gateway: until the restart, URLs have the port that is listened on. */
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { run, runJson } from '../support/cli.ts'
import { writeConfig, type ConfigOptions } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { freePort } from '../support/free-port.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'

const node = await startNode(t, { chainId: 1001 })
const [before, after] = [await freePort(), await freePort()]
const configOf = (port: number): ConfigOptions => ({
  baseUrl: 'http://127.0.0.1:{port}/{slug}',
  networks: { alpha: { chainId: 1001 } },
  methods: fewMethods,
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  gateway: { listen: `127.0.0.1:${port}` },
})

t.test('{port} follows the listener, not the file', async t => {
  const gateway = await startGateway(t, configOf(before))
  const { dir } = gateway
  const access = await createAccess(gateway, 'paid', 'alpha')
  const start = (port: number) => new RegExp(`^http://127\\.0\\.0\\.1:${port}/alpha/`)
  const urls = async () => {
    const at = ['endpoint', 'list', '--account', access.accountId]
    const { endpoints } = await runJson(dir, at)
    return endpoints[0].httpsUrl as string
  }
  t.match(await urls(), start(before))

  await writeConfig(dir, configOf(after))
  const reloaded = await runJson(dir, ['reload'])
  t.match(reloaded, { ok: true, afterRestart: ['listen'] })
  t.match(await urls(), start(before))
  const made = await runJson(dir, ['account', 'create', 'other', '--plan', 'paid', '--chain', 'alpha'])
  t.match(made.endpoint.httpsUrl, start(before))
  const owned = await access.call('service_listEndpoints')
  t.match(JSON.stringify(owned), `:${before}/alpha/`)
  t.match((await run(['dump', '--config', dir])).stdout, `:${after}/alpha`, 'the files are shown as they are')

  await gateway.stop()
  await gateway.start()
  t.equal(gateway.port, after)
  t.match(await urls(), start(after))
})
