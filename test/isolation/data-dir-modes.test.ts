import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { runJson } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { prepareGateway, startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'

const node = await startNode(t)
const config = {
  networks: { ethereum: { chainId: 1 } },
  routes: [{ id: 'ethereum-a', network: 'ethereum', http: node.url }],
  methods: fewMethods,
}

/** Modes by name; the folder itself is `.`. */
function modesOf(dataDir: string): Record<string, string> {
  return Object.fromEntries(
    ['.', ...readdirSync(dataDir)].map(name => [
      name,
      (statSync(join(dataDir, name)).mode & 0o777).toString(8),
    ]),
  )
}

t.test('what a gateway keeps is readable by its owner alone', async t => {
  const gateway = await startGateway(t, config)
  const access = await createAccess(gateway, 'paid', 'ethereum')
  await access.post(message('eth_gasPrice'))
  const { '.': folder, ...files } = modesOf(join(gateway.dir, 'data'))
  t.equal(folder, '700')
  for (const name of [
    'accounts.db',
    'journal.db',
    'journal.db-wal',
    'master.key',
    'serve.json',
    'serve.lock',
  ])
    t.ok(name in files, name)
  for (const [name, mode] of Object.entries(files)) t.equal(mode, '600', name)
})

t.test('files and a folder that were open to others are tightened', async t => {
  const gateway = await prepareGateway(t, config)
  const dataDir = join(gateway.dir, 'data')
  await runJson(gateway.dir, ['account', 'create', 'acme', '--plan', 'paid', '--init'])
  t.equal(modesOf(dataDir)['accounts.db'], '600', 'the command line makes them so too')
  chmodSync(dataDir, 0o755)
  for (const name of readdirSync(dataDir)) if (name !== 'master.key') chmodSync(join(dataDir, name), 0o644)
  await gateway.start()
  for (const [name, mode] of Object.entries(modesOf(dataDir)))
    t.equal(mode, name === '.' ? '700' : '600', name)
})

t.test(
  "a folder with files of others keeps its mode, and so do they; the gateway's own are tightened",
  async t => {
    const gateway = await prepareGateway(t, config)
    const dataDir = join(gateway.dir, 'data')
    mkdirSync(dataDir)
    chmodSync(dataDir, 0o755)
    writeFileSync(join(dataDir, 'notes.txt'), 'of somebody else')
    chmodSync(join(dataDir, 'notes.txt'), 0o644)
    await gateway.start()
    const { '.': folder, 'notes.txt': notes, ...files } = modesOf(dataDir)
    t.strictSame([folder, notes], ['755', '644'])
    for (const [name, mode] of Object.entries(files)) t.equal(mode, '600', name)
  },
)
