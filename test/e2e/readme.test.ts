import { spawn } from 'node:child_process'
import { cpSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { Child, cleanEnvironment } from '../support/child.ts'
import { root } from '../support/paths.ts'
import { startHttpNode } from '../support/scripted-http-node.ts'
import { startNode } from '../support/scripted-node.ts'
import { tempDir } from '../support/temp-dir.ts'

/** The shell lines of the README in their order; one that ends with a backslash goes on. Comments are cut off. */
const lines = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^```sh\n(.*?)^```/gms)]
  .flatMap(([, block]) =>
    block!
      .replaceAll(/\\\n\s*/g, '')
      .trim()
      .split('\n'),
  )
  .map(line => line.replace(/\s+# .*$/, ''))

/** What takes minutes, and runs elsewhere: the installation (deploy/containers), and the demo and this suite themselves. */
const ELSEWHERE = [
  'npm ci && npm run demo',
  'npm ci && npm test',
  'npm ci',
  'npm ci && npm pack',
  'npm install --global tollgate-0.1.0.tgz',
]

/** The ports that the lines name. */
const PORTS = [8080, 9464]

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => {
      resolve(false)
    })
    server.listen(port, '0.0.0.0', () =>
      server.close(() => {
        resolve(true)
      }),
    )
  })
}

/** A fresh checkout with what `npm ci` makes of it. */
async function checkout(t: Parameters<typeof tempDir>[0]): Promise<string> {
  const dir = await tempDir(t)
  for (const name of ['gateway', 'methods', 'networks', 'plans', 'routes'])
    cpSync(join(root, `${name}.yaml`), join(dir, `${name}.yaml`))
  for (const name of ['package.json', 'build', 'schema', 'examples', 'dist'])
    cpSync(join(root, name), join(dir, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  return dir
}

const busy = (await Promise.all(PORTS.map(isFree))).includes(false)

t.test(
  'every shell line shows what the README says',
  { skip: busy && `ports ${PORTS.join(' and ')} are in use` },
  async t => {
    const dir = await checkout(t)
    const node = await startNode(t, { chainId: 1 })
    const beacon = await startHttpNode(t)
    beacon.on('/eth/v1/node/syncing', (_, response) => {
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"data":{"is_syncing":false,"head_slot":"7","sync_distance":"0"}}')
    })
    beacon.on('/eth/v1/events', (_, response) => {
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write('event: head\ndata: {"slot":"7"}\n\n')
    })
    const env = {
      ...cleanEnvironment({ ETHEREUM_A_URL: node.url, npm_config_update_notifier: 'false' }),
      BEACON_GENESIS: '',
    }
    let key = ''
    const shell = async (line: string): Promise<{ code: number | null; out: string }> => {
      const child = new Child('bash', ['-c', line], { ...env, KEY: key }, dir)
      const { code } = await child.exited
      return { code, out: child.stdout + child.stderr }
    }
    const serve = async (line: string): Promise<() => Promise<void>> => {
      // In a group of its own, as npm starts the program below itself.
      const child = spawn('bash', ['-c', line], { cwd: dir, env: { ...env, KEY: key }, detached: true })
      t.teardown(() => {
        try {
          process.kill(-child.pid!, 'SIGKILL')
        } catch {
          /* it is over */
        }
      })
      const ended = new Promise<void>(resolve =>
        child.once('close', () => {
          resolve()
        }),
      )
      await new Promise<void>((resolve, reject) => {
        let printed = ''
        child.stdout.on('data', (piece: Buffer) => {
          printed += piece.toString()
          if (printed.includes('"msg":"ready"')) resolve()
        })
        void ended.then(() => {
          reject(new Error(`${line}: ${printed}`))
        })
      })
      return async () => {
        process.kill(-child.pid!, 'SIGTERM')
        await ended
      }
    }
    let stop: (() => Promise<void>) | null = null
    const tap = join(root, 'node_modules/@tapjs/test/test-built/dist/esm/index.js')
    const tapBuilt = statSync(tap).mtimeMs
    for (const line of lines) {
      if (ELSEWHERE.includes(line)) continue
      if (/^npm start$|tollgate serve/.test(line)) {
        await stop?.()
        stop = await serve(line.replace('http://127.0.0.1:5052', beacon.url))
        t.pass(line)
      } else if (line.includes('account create')) {
        const { code, out } = await shell(line)
        t.equal(code, 0, line)
        const [, made = ''] = /^export KEY=(\S+)$/m.exec(out) ?? []
        t.ok(made, out)
        key = made
      } else if (line.includes('/eth/v1/events')) {
        const { out } = await shell(`timeout 2 ${line}`)
        t.match(out, 'data: {"slot":"7"}', line)
      } else {
        // As it is installed, on a server of its own.
        const { code, out } = await shell(
          line.replaceAll('/etc/tollgate', 'etc').replaceAll(/(?<=^|&& )tollgate/g, 'npx tollgate'),
        )
        t.equal(code, 0, line)
        t.match(
          out,
          EXPECTED.find(([part]) => line.includes(part))?.[1] ?? /a line that this test does not know/,
          line,
        )
      }
    }
    await stop?.()
    t.equal(
      statSync(tap).mtimeMs,
      tapBuilt,
      'bug: npx tollgate built the test runner again, without its plugins',
    )
  },
)

/** What lines print, by a part of them. */
const EXPECTED: readonly (readonly [part: string, prints: RegExp])[] = [
  ['tollgate init', /^ok: 1 network, 1 route, \d+ methods, 3 plans in /m],
  ['tollgate check', /^ok: 6 networks, 12 routes, \d+ methods, 3 plans in /m],
  ['eth_blockNumber', /^\{"jsonrpc":"2\.0","id":1,"result":"0x[0-9a-f]+"\}$/m],
  ['node/syncing --', /./],
  [
    '/eth/v1/node/syncing"',
    /GET \/eth\/v1\/node\/syncing on ethereum-beacon, plan free, is sent to beacon-a/,
  ],
  ['/eth/v1/node/syncing', /"is_syncing":false/],
]
