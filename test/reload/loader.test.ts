import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { Loader } from '../../src/reload/loader.ts'
import { tempDir } from '../support/temp-dir.ts'

/** As many as keep the loader busy for longer than the pause below. */
const NETWORKS = 500

t.test('bug: a load in the middle of a write took half a file for the configuration', async t => {
  const dir = await tempDir(t)
  const loader = new Loader({ dir, env: {}, port: 8080 })
  t.teardown(() => loader.close())
  const names = Array.from({ length: NETWORKS }, (_, i) => `net-${i}`)
  writeFileSync(
    join(dir, 'networks.yaml'),
    `baseUrl: http://{subdomain}.localhost\nnetworks:\n${names.map((name, i) => `  ${name}: { name: ${name}, family: evm, chainId: ${i + 1} }\n`).join('')}`,
  )
  writeFileSync(
    join(dir, 'routes.yaml'),
    `routes:\n${names.map(name => `  - { id: ${name}, network: ${name}, http: "http://127.0.0.1:1" }\n`).join('')}`,
  )
  for (const file of ['methods.yaml', 'plans.yaml']) cpSync(file, join(dir, file))
  writeFileSync(join(dir, 'gateway.yaml'), '')
  await loader.load()
  // Here the file is empty, as between the steps of an editor that writes it anew.
  const loading = loader.load()
  await pause(100)
  writeFileSync(join(dir, 'gateway.yaml'), 'limits: { body: 123456 }\n')
  const { config, problems } = await loading
  t.strictSame(
    problems.filter(({ severity }) => severity === 'error'),
    [],
  )
  t.match(config, { gateway: { limits: { body: 123_456 } } })
})
