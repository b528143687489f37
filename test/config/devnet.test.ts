import t from 'tap'
import { loadConfig } from '../../src/config/load.ts'

const fromRoot = (path: string) => new URL(`../../${path}`, import.meta.url)

t.test('its rules are the shipped ones', async t => {
  const [{ config }, shipped] = await Promise.all([
    loadConfig(fromRoot('examples/devnet').pathname, {}),
    loadConfig(fromRoot('.').pathname, {}),
  ])
  t.ok(Object.keys(config!.families.evm).length > 100)
  t.same(config!.families, shipped.config!.families)
})

t.test('it loads without an environment', async t => {
  const { config, problems } = await loadConfig(fromRoot('examples/devnet').pathname, {})
  t.same(problems, [])
  t.equal(config?.baseUrl, 'http://127.0.0.1:8080/{slug}')
  t.match(config?.networks, [{ slug: 'devnet', chainId: 31337, public: true }])
  t.match(config?.routes, [{ http: 'http://127.0.0.1:8545', ws: 'ws://127.0.0.1:8545' }])
  t.same(config?.routes[0]?.capabilities, ['archive', 'trace', 'debug', 'txpool'])
  t.match(config?.gateway, {
    listen: { host: '127.0.0.1', port: 8080 },
    admin: { port: 9464 },
    dashboardHost: '127.0.0.1',
  })
})

t.test('its addresses follow the environment', async t => {
  const env = {
    TOLLGATE_PORT: '9001',
    TOLLGATE_ADMIN: '127.0.0.1:0',
    DEVNET_URL: 'http://10.0.0.1:1',
    DEVNET_WS: 'ws://10.0.0.1:1',
  }
  const { config } = await loadConfig(fromRoot('examples/devnet').pathname, env)
  t.equal(config?.baseUrl, 'http://127.0.0.1:9001/{slug}')
  t.same(config?.gateway.listen, { host: '127.0.0.1', port: 9001 })
  const listen = { ...env, TOLLGATE_LISTEN: '127.0.0.1:9002' }
  for (const example of ['devnet', 'solana', 'beacon', 'bitcoin', 'starknet'])
    t.equal(
      (await loadConfig(fromRoot(`examples/${example}`).pathname, listen)).config?.baseUrl,
      'http://127.0.0.1:9002/{slug}',
      example,
    )
  t.same(config?.gateway.admin, { host: '127.0.0.1', port: 0 })
  t.match(config?.routes, [{ http: 'http://10.0.0.1:1', ws: 'ws://10.0.0.1:1' }])
})
