/** What the gateway writes into its data directory is its owner's alone, also where it was open to others. */
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

for (const workers of [1, 2])
  t.test(`a start with workers: ${workers} tightens the folder and every file in it`, async t => {
    const node = await startNode(t, { chainId: 1001 })
    const gateway = await startGateway(t, {
      networks: { alpha: { chainId: 1001 } },
      routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
      gateway: { workers },
    })
    const access = await createAccess(gateway, 'paid', 'alpha')
    t.match(await access.call('eth_chainId'), { result: '0x3e9' })
    await gateway.stop()
    const data = join(gateway.dir, 'data')
    writeFileSync(join(data, 'state.json'), '{}')
    // What a process leaves that was killed while it wrote.
    writeFileSync(join(data, 'state.json.new'), '{}')
    for (const name of readdirSync(data)) if (name !== 'master.key') chmodSync(join(data, name), 0o644)
    chmodSync(data, 0o755)

    await gateway.start()
    t.match(await access.call('eth_chainId'), { result: '0x3e9' })
    const open = () => readdirSync(data).filter(name => !/^[67]00$/.test(modeOf(join(data, name))))
    t.strictSame(open(), [], 'no file is open to others')
    t.equal(modeOf(data), '700')
    await gateway.stop()
    t.strictSame(open(), [], 'nor one that is written at the end')
  })

t.test('a folder that has files of others stays as it is, and so do they', async t => {
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: 'http://127.0.0.1:1' }],
  })
  await gateway.stop()
  const data = join(gateway.dir, 'data')
  for (const name of ['state.json', 'notes.json']) {
    writeFileSync(join(data, name), '{}')
    chmodSync(join(data, name), 0o644)
  }
  chmodSync(data, 0o755)
  await gateway.start()
  const modes = ['', 'state.json', 'notes.json'].map(name => modeOf(join(data, name)))
  t.strictSame(modes, ['755', '600', '644'])
})
