/** With --json every refusal is {"error": …} on stdout, whoever refuses: a command, the place without data, the YAML, the words. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { run } from '../support/cli.ts'
import { writeConfig } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { sideBySide } from '../support/side-by-side.ts'
import { tempDir } from '../support/temp-dir.ts'

const bare = await tempDir(t)
const broken = await tempDir(t)
const unread = await tempDir(t)
for (const dir of [bare, broken, unread])
  await writeConfig(dir, {
    networks: { alpha: { chainId: 1001 } },
    methods: fewMethods,
    routes: [{ id: 'alpha-a', network: 'alpha', http: 'http://127.0.0.1:9' }],
  })
rmSync(join(broken, 'plans.yaml'))
writeFileSync(join(unread, 'gateway.yaml'), 'listen: [')

const at = (dir: string, ...args: string[]): string[] => [...args, '--config', dir, '--json']

const refused: [args: string[], code: number, error: RegExp][] = [
  [at(bare, 'account', 'list'), 1, /^there are no accounts in .*TOLLGATE_DATA/],
  [at(bare, 'usage'), 1, /^there are no accounts in /],
  [at(bare, 'endpoint', 'list', '--account', 'acc_x'), 1, /^there are no accounts in /],
  [at(bare, 'explain', 'alhpa', 'eth_call'), 1, /^there is no network "alhpa"/],
  [at(broken, 'account', 'list'), 1, /^plans\.yaml:1:1: .*\nthe configuration has a problem$/],
  [at(broken, 'dump'), 1, /^plans\.yaml:1:1: /],
  [at(broken, 'explain', 'alpha', 'eth_call'), 1, /^plans\.yaml:1:1: /],
  [at(unread, 'account', 'list'), 1, /^gateway\.yaml:1:10[^]+TOLLGATE_DATA[^]+TOLLGATE_ADMIN/],
  [at(bare, 'account', 'create', 'acme'), 2, /^--plan is missing$/],
  [at(bare, 'account', 'craete'), 2, /^there is no command "account craete"/],
  [at(bare, 'account', 'list', 'extra'), 2, /"extra"/],
  [at(bare, 'accuont', 'list'), 2, /^there is no command "accuont"/],
  [at(bare, 'account', 'list', '--plna', 'x'), 2, /^there is no option "--plna"/],
  [['--json', '--plan', 'x', 'account', 'list'], 2, /^"--plan" stands before "account"/],
  [['--json'], 2, /^a command is missing/],
]

t.test('refusals are one JSON value on stdout, and words on stderr', async t => {
  await sideBySide(refused, async ([args, expected, error]) => {
    const { code, stdout, stderr } = await run(args)
    t.equal(code, expected, args.join(' '))
    t.match(stdout, /^\{"error":.*\}\n$/, args.join(' '))
    const told = JSON.parse(stdout || '{}') as { error?: string }
    t.strictSame(Object.keys(told), ['error'])
    t.match(told.error, error)
    t.match(stderr, /^(tollgate|plans|gateway)/)
  })
})

t.test('without --json, and where it is an argument, nothing is on stdout', async t => {
  for (const args of [
    ['account', 'create', 'acme'],
    ['account', 'list', '--', '--json'],
  ])
    t.match(await run([...args]), { code: 2, stdout: '' }, args.join(' '))
})
