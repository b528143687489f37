import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { FILES } from '../../src/config/files.ts'
import { Child, cleanEnvironment, type Exit } from '../support/child.ts'
import { findReady } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { nodeFile, root, shippedDir } from '../support/paths.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const file = join(root, 'deploy', 'tollgate.service')
const unit = readFileSync(file, 'utf8')

/** Every value of a setting, in order. */
function valuesOf(name: string): string[] {
  return [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value!)
}

/** A user who owns nothing here. */
const nobody = 65_534
const noLogrotate =
  spawnSync('logrotate', ['--version']).status === 0 ? false : 'logrotate is not installed here'
const isRoot = process.getuid?.() === 0

/** The unit's directories, made as systemd makes them, and its commands in its words. */
class Machine {
  readonly #env: Record<string, string>

  constructor(
    readonly etc: string,
    readonly state: string,
    readonly bin: string,
    more: Record<string, string>,
  ) {
    const set = valuesOf('Environment').flatMap(line => line.split(' '))
    const own = Object.fromEntries(set.map(pair => pair.split('=', 2))) as Record<string, string>
    t.equal(own['TOLLGATE_DATA'], '/var/lib/tollgate')
    const free = { TOLLGATE_LISTEN: '127.0.0.1:0', TOLLGATE_ADMIN: '127.0.0.1:0' }
    this.#env = cleanEnvironment({ ...own, ...free, TOLLGATE_DATA: state, NOTIFY_SOCKET: '/run/x', ...more })
    this.#env['PATH'] = `${bin}:${this.#env['PATH']}`
  }

  /** Runs one of the unit's commands as its user, with its umask. */
  run(name: 'ExecStartPre' | 'ExecStart' | 'ExecReload'): Child {
    const [line = ''] = valuesOf(name)
    const [umask = ''] = valuesOf('UMask')
    const command = line
      .replace('/usr/bin/node', nodeFile)
      .replace('/opt/tollgate/lib/node_modules/tollgate/', root)
      .replace('/etc/tollgate', this.etc)
    const asUser = isRoot ? `setpriv --reuid=${nobody} --regid=${nobody} --clear-groups ` : ''
    // The test runner's own ways into a process need rights that this user does not have.
    return new Child(
      'sh',
      ['-c', `umask ${umask}; exec env -u NODE_OPTIONS ${asUser}${command}`],
      this.#env,
      '/',
    )
  }

  async told(): Promise<string[]> {
    const text = await readFile(join(this.bin, 'told'), 'utf8').catch(() => '')
    return text.split('\n').filter(line => line !== '')
  }

  async edit(change: (text: string) => string): Promise<void> {
    const at = join(this.etc, 'plans.yaml')
    await chmod(at, 0o644)
    await writeFile(at, change(await readFile(at, 'utf8')))
    await chmod(at, 0o444)
  }
}

async function install(t: Test, more: Record<string, string> = {}): Promise<Machine> {
  const dir = await tempDir(t)
  await chmod(dir, 0o755)
  const [etc, state, bin] = ['etc', 'state', 'bin'].map(name => join(dir, name)) as [string, string, string]
  await mkdir(etc)
  for (const name of FILES) await copyFile(join(shippedDir, name), join(etc, name))
  for (const name of FILES) await chmod(join(etc, name), 0o444)
  await chmod(etc, 0o555)
  t.teardown(() => chmod(etc, 0o755))
  await mkdir(state, { mode: Number.parseInt(valuesOf('StateDirectoryMode')[0]!, 8) })
  await mkdir(bin)
  if (isRoot) execFileSync('chown', [`${nobody}:${nobody}`, state, bin])
  await writeFile(join(bin, 'systemd-notify'), `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> ${bin}/told\n`)
  await chmod(join(bin, 'systemd-notify'), 0o755)
  return new Machine(etc, state, bin, more)
}

/** How a command ended, and what it printed. */
async function ended(child: Child): Promise<Exit & { readonly out: string; readonly err: string }> {
  const exit = await child.exited
  return { ...exit, out: child.stdout, err: child.stderr }
}

t.test(
  'the unit serves the shipped configuration, reloads it, and is told when an edit is refused',
  async t => {
    const machine = await install(t)
    t.match(await ended(machine.run('ExecStartPre')), { code: 0, out: /^ok: \d+ networks/m })
    t.match(
      await ended(machine.run('ExecReload')),
      { code: 1, err: /^tollgate: no gateway runs on / },
      'none runs',
    )
    const gateway = machine.run('ExecStart')
    t.teardown(() => gateway.stop('SIGKILL'))
    const { admin } = await gateway.output('ready', findReady)
    t.equal((await get(`http://${admin}/readyz`)).status, 200)
    await until('systemd is told', async () => (await machine.told()).length > 0)
    t.match(await machine.told(), [/^\/run\/x READY=1 STATUS=serving on 127\.0\.0\.1:\d+$/])
    const files = await readdir(machine.state)
    t.ok(
      ['accounts.db', 'journal.db', 'master.key', 'serve.json'].every(name => files.includes(name)),
      files.join(),
    )
    for (const name of files) {
      const { mode, uid } = await stat(join(machine.state, name))
      t.equal(mode & 0o777, 0o600, name)
      t.equal(uid, isRoot ? nobody : process.getuid?.(), name)
    }
    t.strictSame(
      (await readdir(machine.etc)).sort(),
      [...FILES].sort(),
      'nothing is written to the configuration',
    )

    const plans = await readFile(join(machine.etc, 'plans.yaml'), 'utf8')
    await machine.edit(text => text.replace('perSecond: 25', 'perSecond: 26'))
    t.match(await ended(machine.run('ExecReload')), { code: 0, err: '' }, 'a good edit')
    await machine.edit(text => `${text}  broken: { tiers: [nothing] }\n`)
    const refused = await ended(machine.run('ExecReload'))
    t.match(refused, {
      code: 1,
      out: '',
      err: /plans\.yaml:\d+:\d+ plans\.broken.*\n(.*\n)*tollgate: the edit was refused; the configuration before it is still served\n$/,
    })
    t.equal((await get(`http://${admin}/readyz`)).status, 200)
    await machine.edit(() => plans)
    const again = await ended(machine.run('ExecReload'))
    t.match(again, { code: 0, err: '' }, 'put right')

    gateway.signal('SIGTERM')
    t.same(await gateway.exited, { code: 0, signal: null })
    t.match(await machine.told(), [/READY=1/, /STOPPING=1/])
  },
)

t.test('with WatchdogSec it reports that it lives, as long as it does', async t => {
  t.match(valuesOf('WatchdogSec'), [/^\d+$/])
  const machine = await install(t, { WATCHDOG_USEC: '300000' })
  const gateway = machine.run('ExecStart')
  t.teardown(() => gateway.stop('SIGKILL'))
  await gateway.output('ready', findReady)
  const signs = async () => (await machine.told()).filter(line => line === '/run/x WATCHDOG=1').length
  await until('it lives', async () => (await signs()) > 2)
  gateway.signal('SIGSTOP')
  const stopped = await signs()
  gateway.signal('SIGCONT')
  await until('it lives again', async () => (await signs()) > stopped)
  t.same(await gateway.stop(), { code: 0, signal: null })
})

t.test(
  'logrotate keeps what it moves, and has the gateway open the file again',
  { skip: noLogrotate },
  async t => {
    const dir = await tempDir(t)
    const log = join(dir, 'access.log')
    await writeFile(log, 'a line\n')
    const rules = readFileSync(join(root, 'deploy/logrotate'), 'utf8')
      .replace('/var/log/tollgate/*.log', log)
      .replace(/ su .*\n/, '')
      .replace(/systemctl kill .*/, `echo opened > ${dir}/said`)
    await writeFile(join(dir, 'rules'), rules, { mode: 0o644 })
    execFileSync('logrotate', ['--force', '--state', join(dir, 'state'), join(dir, 'rules')])
    t.equal(await readFile(`${log}.1`, 'utf8'), 'a line\n')
    t.equal(await readFile(join(dir, 'said'), 'utf8'), 'opened\n')
    t.match(
      readFileSync(join(root, 'deploy/logrotate'), 'utf8'),
      /--signal=SIGUSR1 --kill-who=main tollgate\.service/,
    )
  },
)

t.test('without systemd-notify it serves, and says what was not told', async t => {
  const machine = await install(t)
  await writeFile(join(machine.bin, 'systemd-notify'), '#!/bin/sh\nexit 3\n')
  const gateway = machine.run('ExecStart')
  t.teardown(() => gateway.stop('SIGKILL'))
  await gateway.output('the warning', ({ stdout }) =>
    stdout.includes('systemd was not notified of READY=1: systemd-notify ended with 3') ? true : undefined,
  )
  t.same(await gateway.stop(), { code: 0, signal: null })
})

/** What `systemd-analyze security` says, or why it cannot. */
function analyzed(): { readonly said: string } | { readonly why: string } {
  try {
    return {
      said: execFileSync('systemd-analyze', ['security', '--offline=true', file], { encoding: 'utf8' }),
    }
  } catch (error) {
    return { why: (error as Error).message.split('\n', 1)[0]! }
  }
}

const analysis = analyzed()
const skip = 'why' in analysis && `systemd-analyze is not here, or too old for --offline: ${analysis.why}`

t.test('what it may do is bounded: systemd-analyze security says below 3', { skip }, t => {
  const said = 'said' in analysis ? analysis.said : ''
  const [, level = '10'] = /Overall exposure level for tollgate\.service: ([\d.]+)/.exec(said) ?? []
  t.ok(Number(level) < 3, `${level} is below 3`)
  // V8 makes machine code.
  t.same(valuesOf('MemoryDenyWriteExecute'), [])
  t.end()
})

t.test('a stop has longer than the drain takes', async t => {
  const gateway = await readFile(join(shippedDir, 'gateway.yaml'), 'utf8')
  const [, drain = '0'] = /^ +drain: (\d+)s$/m.exec(gateway) ?? []
  t.ok(Number(valuesOf('TimeoutStopSec')[0]) > Number(drain) + 5)
})
