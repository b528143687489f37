/** A log that nobody takes: lines are dropped and counted, calls are served, and SIGTERM ends the process. */
import { execFileSync, spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { cleanEnvironment } from '../support/child.ts'
import { fewMethods } from '../support/few-methods.ts'
import { prepareGateway } from '../support/gateway.ts'
import { send } from '../support/http.ts'
import { mainFile, nodeFile } from '../support/paths.ts'
import { startNode } from '../support/scripted-node.ts'
import { until, within } from '../support/until.ts'

const node = await startNode(t, { chainId: 1001 })

interface Serving {
  readonly dir: string
  readonly child: ChildProcess
  readonly admin: string
  readonly printed: { stderr: string }
  call(): Promise<number>
}

/** A gateway whose stdout is `out`; it is found by its serve.json, as its log may say nothing. */
async function serving(t: Test, out: 'pipe' | number): Promise<Serving> {
  const { dir } = await prepareGateway(t, {
    baseUrl: 'http://127.0.0.1:8080/{slug}',
    networks: { alpha: { chainId: 1001, public: true } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    methods: fewMethods,
  })
  const stdio: StdioOptions = ['ignore', out, 'pipe']
  const child = spawn(nodeFile, [mainFile, 'serve', '--config', dir], { env: cleanEnvironment(), stdio })
  t.teardown(() => child.kill('SIGKILL'))
  const printed = { stderr: '' }
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text))
  const file = join(dir, 'data', 'serve.json')
  const { listen, admin } = await until('it serves', () => {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    return Promise.resolve(text.endsWith('\n') && (JSON.parse(text) as { listen: string; admin: string }))
  })
  const call = async () => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
    const headers = { 'content-type': 'application/json' }
    const asked = send(Number(new URL(`http://${listen}`).port), {
      path: '/alpha/v1/rpc/public',
      body,
      headers,
    })
    const reply = await within('a reply', asked)
    return reply.status
  }
  return { dir, child, admin: `http://${admin}`, printed, call }
}

async function stops(t: Test, { child }: Serving): Promise<void> {
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  t.strictSame(await within('the end', exit), [0, null])
}

/** An edit that has a line of log for each of its many errors. */
async function brokenEdit({ dir }: Serving): Promise<void> {
  const rows = Array.from({ length: 250 }, (_, i) => `  - { id: ${'x'.repeat(60)}${i}, network: no }`)
  await writeFile(join(dir, 'routes.yaml'), `routes:\n${rows.join('\n')}\n`)
}

/** Has the gateway read its files once more; what it thinks of them is in its log. */
async function reloads({ admin }: Serving): Promise<void> {
  const { status } = await within('a reload', fetch(`${admin}/reload`, { method: 'POST' }))
  if (status !== 422) throw new Error(`the edit was taken: ${status}`)
}

const skip = existsSync('/dev/full') ? false : 'no /dev/full here'
t.test('a full disk under the log holds up neither calls nor the end', { skip }, async t => {
  const fd = openSync('/dev/full', 'w')
  const gateway = await serving(t, fd)
  closeSync(fd)
  t.equal(await gateway.call(), 200)
  await brokenEdit(gateway)
  await reloads(gateway)
  t.equal(await gateway.call(), 200)
  await stops(t, gateway)
  t.equal(
    gateway.printed.stderr,
    'tollgate: log lines cannot be written to stdout and are dropped: the disk is full\n',
    'once, however many lines',
  )
})

/** The lines of a log, each of them whole. */
function messages(log: string): string[] {
  return log
    .trimEnd()
    .split('\n')
    .map(line => (JSON.parse(line) as { msg: string }).msg)
}

t.test('a stalled reader holds up no call; when it goes on it is told how much it has missed', async t => {
  const gateway = await serving(t, 'pipe')
  const { child, printed } = gateway
  await brokenEdit(gateway)
  const dropping = 'tollgate: log lines cannot be written to stdout and are dropped: its reader is too slow\n'
  await until(
    'lines are dropped',
    async () => {
      await reloads(gateway)
      return printed.stderr !== ''
    },
    60_000,
  )
  t.equal(printed.stderr, dropping)
  t.equal(await gateway.call(), 200)
  let log = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (log += text))
  const again = await until<RegExpExecArray>(
    'it is over',
    () =>
      Promise.resolve(
        /^tollgate: log lines are written to stdout again; (\d+) (?:was|were) dropped\n$/m.exec(
          printed.stderr,
        ) ?? false,
      ),
    60_000,
  )
  t.ok(Number(again[1]) > 0)
  const closed = once(child.stdout!, 'close')
  await stops(t, gateway)
  await closed
  t.equal(messages(log).at(-1), 'stopped', 'and the last line is there')
})

t.test('a stalled reader does not hold up the end', async t => {
  const gateway = await serving(t, 'pipe')
  await brokenEdit(gateway)
  for (let reload = 0; reload < 5; reload++) await reloads(gateway)
  await stops(t, gateway)
})

t.test('a file that may not grow for a while', { skip: prlimit('--version') }, async t => {
  const file = join(t.testdir(), 'log')
  const fd = openSync(file, 'w')
  const gateway = await serving(t, fd)
  closeSync(fd)
  const { child, printed } = gateway
  await until('it is ready', () => Promise.resolve(readFileSync(file, 'utf8').includes('"ready"')))
  await brokenEdit(gateway)
  prlimit('--pid', String(child.pid), `--fsize=${readFileSync(file).length + 100}:`)
  await reloads(gateway)
  await until('lines are dropped', () => Promise.resolve(printed.stderr !== ''))
  t.equal(await gateway.call(), 200)
  prlimit('--pid', String(child.pid), '--fsize=unlimited:')
  await stops(t, gateway)
  t.match(
    printed.stderr,
    /^.*are dropped: EFBIG\ntollgate: log lines are written to stdout again; \d+ (?:was|were) dropped\n$/,
  )
  const torn = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .filter(line => !line.endsWith('}'))
  t.equal(torn.length, 1, 'what comes after a torn line begins on a line of its own')
  t.match(readFileSync(file, 'utf8'), /"msg":"stopped"\}\n$/)
})

/** Runs prlimit; gives why it does not work here, or false. */
function prlimit(...args: string[]): string | false {
  try {
    execFileSync('prlimit', args, { stdio: 'ignore' })
    return false
  } catch (error) {
    return `prlimit does not work here: ${String(error)}`
  }
}
