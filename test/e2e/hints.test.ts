/** A command that a hint proposes can be pasted: the program as it was called, with the configuration directory. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { mkdirSync, symlinkSync } from 'node:fs'
import t from 'tap'
import { Child, cleanEnvironment } from '../support/child.ts'
import { run } from '../support/cli.ts'
import { writeConfig } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { mainFile, nodeFile, program } from '../support/paths.ts'
import { tempDir } from '../support/temp-dir.ts'

const dir = join(await tempDir(t), "the operator's")
mkdirSync(dir)
await writeConfig(dir, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: 'http://127.0.0.1:1' }],
  methods: fewMethods,
  gateway: { dataDir: '${TOLLGATE_DATA:-./data}' },
})
const hinted = (stderr: string): string => /: "(.+)" makes them there/.exec(stderr)?.[1] ?? stderr

t.test('hints repeat how the program was called', async t => {
  const link = join(await tempDir(t), 'tollgate')
  symlinkSync(mainFile, link)
  for (const [script, env, called] of [
    [link, {}, 'tollgate '],
    [link, { npm_command: 'exec' }, 'npx tollgate '],
    [link, { npm_command: 'run-script' }, 'tollgate '],
    [mainFile, { npm_command: 'exec' }, `${program} `],
  ] as const) {
    const child = new Child(nodeFile, [script, 'account', 'list', '--config', dir], cleanEnvironment(env))
    t.equal((await child.exited).code, 1)
    t.ok(hinted(child.stderr).startsWith(`${called}account create `), child.stderr)
  }
})

t.test('what is proposed does it, pasted as it stands', async t => {
  for (const args of [
    ['account', 'list'],
    ['account', 'create', "Acme's first", '--plan', 'paid', '--chain', 'alpha'],
  ]) {
    const data = join(await tempDir(t), 'data')
    const refused = await run([...args, '--config', dir], { TOLLGATE_DATA: data })
    t.equal(refused.code, 1)
    const env = { ...cleanEnvironment(), TOLLGATE_DATA: data }
    const pasted = spawnSync('sh', ['-c', hinted(refused.stderr)], { env, encoding: 'utf8' })
    t.match(pasted, { status: 0, stdout: /export KEY=/ }, pasted.stderr)
    t.equal((await run(['account', 'list', '--config', dir], { TOLLGATE_DATA: data })).code, 0)
  }
})
