/** What a backup holds, and what a restore refuses. */
import { randomBytes, randomInt } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { run, runJson } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { result } from '../support/node-replies.ts'
import { Random } from '../support/random.ts'
import { startNode } from '../support/scripted-node.ts'
import { tempDir } from '../support/temp-dir.ts'

const node = await startNode(t, { chainId: 1001 })
node.on('eth_gasPrice', result('"0x1"'))

const config = (workers: number) => ({
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
  gateway: { workers, timeouts: { drain: '2s', drainIdle: '1s' } },
})

t.test('a damaged copy is refused, and the sentence names the file', async t => {
  const gateway = await startGateway(t, config(2))
  const access = await createAccess(gateway, 'paid', 'alpha')
  for (let n = 0; n < 20; n += 1) await access.call('eth_gasPrice')
  const dir = await tempDir(t)
  const whole = join(dir, 'whole')
  const made = await runJson(gateway.dir, ['backup', whole])
  t.equal(made.sums.calls, 20)
  const names: string[] = made.files.map(({ name }: { name: string }) => name)
  t.match(names, ['accounts.db', /^journal-1-/, /^journal-2-/, 'journal.db', 'master.key'])
  const random = new Random(randomInt(2 ** 32))
  t.comment(`seed ${random.seed}`)
  const refuses = async (harm: (copy: string) => void, sentence: RegExp): Promise<void> => {
    const copy = join(dir, `copy-${randomBytes(4).toString('hex')}`)
    cpSync(whole, copy, { recursive: true })
    harm(copy)
    const data = `${copy}-data`
    t.match(await run(['restore', copy, '--to', data]), { code: 1, stdout: '', stderr: sentence })
    t.notOk(existsSync(data))
    t.strictSame(
      readdirSync(dir).filter(name => name.includes('partial')),
      [],
    )
  }
  for (const name of [...names, 'manifest.json']) {
    const says = new RegExp(`nothing was restored: \\S+/${name.replaceAll('.', '\\.')}\\b`)
    await refuses(copy => {
      const bytes = readFileSync(join(copy, name))
      bytes[random.below(bytes.length - 3)]! ^= 1
      writeFileSync(join(copy, name), bytes)
    }, says)
    await refuses(copy => {
      truncateSync(join(copy, name), random.below(statSync(join(copy, name)).size))
    }, says)
    await refuses(copy => {
      appendFileSync(join(copy, name), '1')
    }, says)
    await refuses(copy => {
      rmSync(join(copy, name))
    }, says)
  }
  await refuses(copy => {
    const manifest = JSON.parse(readFileSync(join(copy, 'manifest.json'), 'utf8'))
    manifest.files[0].name = '../accounts.db'
    writeFileSync(join(copy, 'manifest.json'), JSON.stringify(manifest))
  }, /manifest\.json is damaged: its checksum does not fit/)
  t.match(await run(['restore', whole, '--to', join(gateway.dir, 'data')]), {
    code: 1,
    stderr: /data is not empty: name a new folder/,
  })
  const other = { TOLLGATE_MASTER_KEY: randomBytes(32).toString('base64') }
  t.match(await run(['restore', whole, '--to', join(dir, 'data')], other), {
    code: 1,
    stderr: /the master key does not open accounts\.db/,
  })
  t.notOk(existsSync(join(dir, 'data')))
  t.match(await run(['restore', join(gateway.dir, 'data'), '--to', join(dir, 'data')]), {
    code: 1,
    stderr: /manifest\.json is missing: this is not a whole backup/,
  })
})

t.test('without the key, and without a gateway', async t => {
  const gateway = await startGateway(t, config(1))
  const access = await createAccess(gateway, 'paid', 'alpha')
  await access.call('eth_gasPrice')
  await gateway.stop()
  const dir = await tempDir(t)
  const [at, data] = [join(dir, 'backup'), join(dir, 'data')]
  mkdirSync(at)
  t.match(await run(['backup', at, '--without-key', '--config', gateway.dir]), {
    code: 0,
    stdout: /accounts 1, endpoints 1, calls 1\nthe master key is not in it/,
  })
  t.strictSame(readdirSync(at), ['accounts.db', 'journal.db', 'manifest.json'])
  t.match(await run(['backup', at, '--config', gateway.dir]), { code: 1, stderr: /backup is not empty/ })
  t.match(await run(['backup', join(dir, 'none', 'of'), '--config', gateway.dir]), {
    code: 1,
    stderr: /\/none does not exist\n$/,
  })
  t.match(await run(['restore', at, '--to', data]), {
    code: 1,
    stderr: /was made without its master key: set /,
  })
  const env = { TOLLGATE_MASTER_KEY_FILE: join(gateway.dir, 'data', 'master.key') }
  t.equal((await run(['restore', at, '--to', data], env)).code, 0)
  t.strictSame(readdirSync(data), ['accounts.db', 'journal.db'])
})
