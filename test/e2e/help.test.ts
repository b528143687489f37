/** What the command line says of itself: help, suggestions, completion. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { run } from '../support/cli.ts'
import { program } from '../support/paths.ts'
import { sideBySide } from '../support/side-by-side.ts'

const members = {
  account: [
    'create',
    'list',
    'show',
    'set-plan',
    'suspend',
    'resume',
    'rotate-token',
    'rename',
    'label',
    'delete',
  ],
  endpoint: ['list', 'create', 'activate', 'deactivate', 'delete', 'label', 'limit', 'rotate', 'move'],
}

t.test('-h, --help and help say the same, at every level', async t => {
  const places = [[], ['account'], ['account', 'suspend'], ['usage'], ['completion']]
  await sideBySide(places, async place => {
    const asked = await run([...place, '--help'])
    t.match(asked, { code: 0, stderr: '' })
    t.match(asked.stdout, ['tollgate', ...place].join(' '))
    for (const args of [
      [...place, '-h'],
      ['help', ...place],
    ])
      t.strictSame(await run(args), asked, args.join(' '))
  })
})

t.test('help of a member is about the member', async t => {
  const { stdout } = await run(['account', 'suspend', '--help'])
  t.match(stdout, /^tollgate account suspend <id>/)
  for (const other of ['create', 'resume', 'set-plan', '--plan']) t.notOk(stdout.includes(other), other)
  t.equal((await run(['account', 'suspend', 'acc_x', '-h', '--json'])).stdout, stdout, 'wherever it stands')
})

t.test('a group lists its members, a line each', async t => {
  for (const [group, names] of Object.entries(members)) {
    const { code, stdout } = await run([group, '-h'])
    t.equal(code, 0)
    const listed = stdout.split('\n').flatMap(line => /^ {2}(\S+) {2,}\S.+$/.exec(line)?.[1] ?? [])
    t.strictSame(listed, names)
  }
  const alone = await run(['account'])
  t.match(alone, {
    code: 2,
    stdout: '',
    stderr: /missing subcommand; expected one of create, list[^]+ {2}suspend {2,}\S/,
  })
})

t.test('tollgate alone prints its help', async t => {
  const { stdout } = await run([])
  t.equal(stdout, (await run(['--help'])).stdout)
})

const slips: [args: string[], said: string][] = [
  [['usgae'], 'there is no command "usgae"; did you mean "usage"?'],
  [['zzz'], `there is no command "zzz"; ${program} --help lists them`],
  [['account', 'susepnd', 'acc_x'], 'there is no command "account susepnd"; did you mean "suspend"?'],
  [['account', 'susepnd', '--help'], 'there is no command "account susepnd"; did you mean "suspend"?'],
  [['endpoint', 'zzzzzz'], `there is no command "endpoint zzzzzz"; there are ${members.endpoint.join(', ')}`],
  [['account', 'create', 'x', '--plna', 'y'], 'there is no option "--plna"; did you mean "--plan"?'],
  [['usage', '--acount=acc_x'], 'there is no option "--acount"; did you mean "--account"?'],
  [['serve', '-c', '.'], 'there is no option "-c"; there are --config, --json, --help'],
  [['check', '--hlp'], 'there is no option "--hlp"; did you mean "--help"?'],
  [['account', '--hlp'], 'there is no option "--hlp"; did you mean "--help"?'],
  [['--hlp'], 'there is no option "--hlp"; did you mean "--help"?'],
  [['--confg', '.', 'check'], 'there is no option "--confg"; did you mean "--config"?'],
  [['--plan', 'paid', 'account'], '"--plan" stands before "account"; put it behind it'],
  [['account', '--plan', 'paid', 'create', 'x'], '"--plan" stands before "create"; put it behind it'],
  [['--config'], '--config needs a value'],
  [['usage', '--by', 'week'], '--by must be hour, day, month, account, endpoint, network or method'],
  [['completion', 'csh'], 'the shell must be bash, zsh or fish'],
]
t.test('a slip of the fingers gets a suggestion, and exits 2', async t => {
  await sideBySide(slips, async ([args, said]) => {
    const { code, stdout, stderr } = await run(args)
    t.strictSame([code, stdout, stderr.split('\n')[0]], [2, '', `tollgate: ${said}`], args.join(' '))
  })
})

t.test('--config and --json may stand before the command', async t => {
  const dir = t.testdir()
  t.equal((await run(['init', dir, '--network', 'ethereum'])).code, 0)
  const asked = await run(['check', '--config', dir, '--json'])
  t.equal((JSON.parse(asked.stdout) as { dir: string }).dir, dir)
  for (const before of [
    ['--config', dir, '--json'],
    ['--json', `--config=${dir}`],
  ])
    t.strictSame(await run([...before, 'check']), asked, before.join(' '))
  t.match(
    await run(['--config', '/nowhere', 'check', '--config', dir]),
    { code: 2, stdout: '', stderr: /^tollgate: --config is given twice\n/ },
    'neither of two',
  )
  t.match(await run(['--config', dir, 'account', 'list']), {
    code: 1,
    stderr: `there are no accounts in ${join(dir, 'data')}`,
  })
  t.strictSame(
    await run(['--config', dir, 'account', 'suspend', '--help']),
    await run(['account', 'suspend', '--help']),
  )
  t.match(await run(['account', '--config', dir, 'list']), { code: 1, stderr: join(dir, 'data') })
  t.match(await run(['--json', '--version']), { code: 0, stdout: /^\d+\./ })
  t.match(await run(['--config', dir]), { code: 2, stdout: /^tollgate \d/ }, 'without a command its help')
})

/** What is typed behind `tollgate`, and what it is completed to; the last word is the one being typed. */
const typed: [words: string[], completed: string[]][] = [
  [['acc'], ['account']],
  [['--v'], ['--version']],
  [['--c'], ['--config']],
  [['--config', 'x', 'acc'], ['account']],
  [
    ['--json', 'account', 's'],
    ['show', 'set-plan', 'suspend'],
  ],
  [
    ['account', '--config', 'x', 's'],
    ['show', 'set-plan', 'suspend'],
  ],
  [
    ['account', 's'],
    ['show', 'set-plan', 'suspend'],
  ],
  [
    ['account', ''],
    [...members.account, '--help'],
  ],
  [
    ['account', 'create', '--'],
    ['--plan', '--chain', '--init', '--config', '--json', '--help'],
  ],
  [['account', 'create', 'account', '--p'], ['--plan']],
  [['account', 'create', '--chain', 'eth', '--i'], ['--init']],
  [['account', 'create', '--plan', ''], []],
  [
    ['account', 'nope', ''],
    [...members.account, '--help'],
  ],
  [
    ['usage', '--by', ''],
    ['hour', 'day', 'month', 'account', 'endpoint', 'network', 'method'],
  ],
  [
    ['usage', '--detail', '--c'],
    ['--csv', '--config'],
  ],
  [
    ['endpoint', 'create', '--n'],
    ['--name', '--no-management'],
  ],
  [['completion', 'f'], ['fish']],
]

/** Runs a program of a shell that has read its completion script; skips where there is no such shell. */
async function shellOf(t: Test, name: string): Promise<((program: string) => string[]) | null> {
  if (spawnSync(name, ['-c', 'true']).error !== undefined) {
    t.pass(`${name} is not installed`, { skip: true })
    return null
  }
  const { code, stdout } = await run(['completion', name])
  t.equal(code, 0)
  const dir = t.testdir()
  const script = join(dir, 'script')
  writeFileSync(script, stdout)
  mkdirSync(join(dir, 'my config'))
  return program => {
    const ended = spawnSync(name, ['-c', program.replace('SCRIPT', script)], { cwd: dir, encoding: 'utf8' })
    t.equal(ended.stderr, '', program)
    return ended.stdout.split('\n').filter(line => line !== '')
  }
}

const quoted = (words: readonly string[]) => words.map(word => `'${word}'`).join(' ')

t.test('completion in bash', async t => {
  const bash = await shellOf(t, 'bash')
  if (bash === null) return
  const complete = (words: readonly string[]) =>
    bash(`set -u; source SCRIPT
      COMP_WORDS=(tollgate ${quoted(words)}); COMP_CWORD=${words.length}
      _tollgate 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]-}"; complete -p tollgate >/dev/null`)
  for (const [words, completed] of typed) t.strictSame(complete(words), completed, words.join(' '))
  t.strictSame(complete(['check', '--config', 'my']), ['my config'], 'folders, spaces included')
})

t.test('completion in zsh', async t => {
  const zsh = await shellOf(t, 'zsh')
  if (zsh === null) return
  const complete = (words: readonly string[]) =>
    zsh(`compdef() { : }; compadd() { shift; print -l -- "$@" }; source SCRIPT
      words=(tollgate ${quoted(words)}); CURRENT=${words.length + 1}; _tollgate || true`)
  for (const [words, completed] of typed) {
    const begun = complete(words).filter(word => word.startsWith(words.at(-1)!))
    t.strictSame(begun, completed, words.join(' '))
  }
})

t.test('completion in fish', async t => {
  const fish = await shellOf(t, 'fish')
  if (fish === null) return
  for (const [words, completed] of typed) {
    // There options stand before the first word only.
    if (words.includes('nope') || words[1] === '--config') continue
    const shown = fish(`source SCRIPT; complete -C 'tollgate ${words.join(' ')}'`)
    const names = shown.map(line => line.split('\t')[0])
    const wanted = completed.filter(word => words.at(-1) !== '' || !word.startsWith('-'))
    t.strictSame(names.sort(), [...wanted].sort(), words.join(' '))
  }
})

t.test('help fits a terminal of 125 columns', async t => {
  const { stdout } = await run(['completion', 'bash'])
  const places = [...stdout.matchAll(/^ {8}'((?: [^']+)?)'\) words=/gm)].map(([, path]) => path!)
  t.ok(places.length > 15, `${places.length} places`)
  await sideBySide(places, async path => {
    const { stdout } = await run([...path.split(' ').filter(word => word !== ''), '--help'])
    t.strictSame(
      stdout.split('\n').filter(line => line.length > 125),
      [],
      path,
    )
  })
})

t.test('help names exactly the options that a command takes', async t => {
  const { stdout } = await run(['completion', 'bash'])
  const places = [...stdout.matchAll(/^ {8}'( [^']+)'\) words='([^']*)'/gm)]
  t.ok(places.length > 15, `${places.length} places`)
  await sideBySide(places, async ([, path, words]) => {
    const place = path!.trim().split(' ')
    if (Object.hasOwn(members, place.join(' '))) return
    const options = words!.split(' ').filter(word => word.startsWith('--'))
    const [usage] = (await run([...place, '-h'])).stdout.split('\n\n')
    const named: string[] = usage!.match(/--[a-z-]+/g) ?? []
    const own = options.filter(option => !['--config', '--json', '--help'].includes(option))
    t.strictSame(named.filter(option => !['--config', '--json'].includes(option)).sort(), own.sort(), path!)
  })
})
