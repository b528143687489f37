/** Words that contradict each other, or say nothing, are refused before anything is made. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { run, runJson } from '../support/cli.ts'
import { writeConfig } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { tempDir } from '../support/temp-dir.ts'

const dir = await tempDir(t)
await writeConfig(dir, {
  networks: { alpha: { chainId: 1001 } },
  methods: fewMethods,
  routes: [{ id: 'alpha-a', network: 'alpha', http: 'http://127.0.0.1:9' }],
})
const create = (name: string, ...more: string[]) =>
  run(['account', 'create', name, '--plan', 'paid', '--init', '--config', dir, ...more])

t.test('words that cannot be meant', async t => {
  const empty = await tempDir(t)
  const [one, two] = [join(empty, 'one'), join(empty, 'two')]
  const refused: [args: string[], why: string][] = [
    [
      ['init', one, '--network', 'ethereum', '--config', two],
      `DIR is "${one}" and --config is "${two}"; name one folder`,
    ],
    [['init', '', '--network', 'ethereum'], 'DIR is empty; it takes a folder'],
    [['check', '--config', ''], '--config is empty; it takes a directory'],
    [['--config=', 'check'], '--config is empty; it takes a directory'],
    [['account', 'set-plan', 'acc_x', 'free', '--config', dir, '--config', empty], '--config is given twice'],
    [
      ['account', 'create', 'acme', '--plan', 'free', '--plan=paid', '--config', dir],
      '--plan is given twice',
    ],
    [['account', 'list', '--config'], '--config needs a value'],
    [['account', 'list', '--config', '--help=no'], '--config needs a value'],
    [['account', 'create', 'acme', '--config', dir, '--plan'], '--plan needs a value'],
    [['account', 'list', '--config', dir, '--json=yes'], '--json takes no value'],
  ]
  for (const [args, why] of refused) {
    const { code, stdout, stderr } = await run(args)
    t.strictSame([code, stdout, stderr.split('\n')[0]], [2, '', `tollgate: ${why}`], args.join(' '))
  }
  t.strictSame(readdirSync(empty), [])
  t.match(
    await run(['init', one, '--network', 'ethereum', '--config', one]),
    { code: 0 },
    'the same twice is one',
  )
  t.match(await run(['init', two, '--network', 'ethereum', '--network', 'solana']), { code: 0 })
})

t.test('usage has one format', async t => {
  const why = '--csv, --json and --format are formats; give one of them'
  const { code, stdout, stderr } = await run(['usage', '--csv', '--json', '--config', dir])
  t.strictSame([code, JSON.parse(stdout), stderr.split('\n')[0]], [2, { error: why }, `tollgate: ${why}`])
})

t.test('a list of one is said as one', async t => {
  const { stderr } = await run(['explain', 'zzzzzz', 'eth_chainId', '--config', dir])
  t.equal(stderr, 'tollgate: there is no network "zzzzzz"; there is only alpha\n')
})

t.test('URLs are labelled by their scheme', async t => {
  for (const [baseUrl, http, ws] of [
    ['http://127.0.0.1:8080/{slug}', 'HTTP', 'WS'],
    ['https://rpc.example.com/{slug}', 'HTTPS', 'WSS'],
  ] as const) {
    const at = await tempDir(t)
    await writeConfig(at, {
      networks: { alpha: { chainId: 1001 } },
      baseUrl,
      methods: fewMethods,
      routes: [{ id: 'alpha-a', network: 'alpha', http: 'http://127.0.0.1:9', ws: 'ws://127.0.0.1:9' }],
    })
    const account = await run(['account', 'create', 'acme', '--plan', 'paid', '--init', '--config', at])
    const id = /acc_\w+/.exec(account.stdout)![0]
    const endpoint = await run(['endpoint', 'create', '--account', id, '--chain', 'alpha', '--config', at])
    for (const { stdout } of [account, endpoint]) {
      t.match(stdout, new RegExp(`^${http} +${http.toLowerCase()}://`, 'm'))
      t.match(stdout, new RegExp(`^${ws} +${ws.toLowerCase()}://`, 'm'))
    }
  }
})

t.test('a name of an account is printable and at most 64 characters', async t => {
  for (const name of ['a\nb', 'a\u001b[31m', 'a\u200eb', 'x'.repeat(65)])
    t.match(await create(name), {
      code: 2,
      stdout: '',
      stderr: /^tollgate: the name must be 1 to 64 printable characters\n/,
    })
  t.notOk(readdirSync(dir).includes('data'))
  t.match(await create('Ærø ✓ 東京'), { code: 0 })
})

t.test('usage of a name lists the ids that have it', async t => {
  const ids: string[] = []
  for (const name of ['twin', 'twin', 'alone'])
    ids.push((JSON.parse((await create(name, '--json')).stdout) as { accountId: string }).accountId)
  const usage = async (name: string) => (await run(['usage', '--account', name, '--config', dir])).stderr
  const setPlan = async (name: string) =>
    (await run(['account', 'set-plan', name, 'paid', '--config', dir])).stderr
  for (const name of ['twin', 'alone', 'nobody']) t.equal(await usage(name), await setPlan(name), name)
  for (const id of ids.slice(0, 2)) t.ok((await usage('twin')).includes(id))
  t.match(await run(['usage', '--account', 'twin', '--config', dir], { TOLLGATE_MASTER_KEY: 'wrong' }), {
    code: 1,
    stderr: /there is no account "twin"/,
  })
  t.strictSame(await runJson(dir, ['usage', '--account', ids[0]!]), [])
})
