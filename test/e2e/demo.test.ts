import t from 'tap'
import { execFile } from 'node:child_process'
import { readFile, readdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import { createPublicClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvilCommand } from '../support/anvil.ts'
import { Child, cleanEnvironment } from '../support/child.ts'
import { get } from '../support/http.ts'
import { mainFile, nodeFile } from '../support/paths.ts'
import { tempDir } from '../support/temp-dir.ts'

/** How the demo is told to take any free port. */
const demoArguments = ['demo', '--port', '0']

const runFile = promisify(execFile)

/** The processes whose parent is this one, by name. */
async function childrenOf(pid: number): Promise<{ pid: number; name: string }[]> {
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger)
  const found = await Promise.all(
    pids.map(async child => {
      const stat = await readFile(`/proc/${child}/stat`, 'utf8').catch(() => '')
      const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/.exec(stat) ?? []
      return { pid: child, name: name ?? '', parent: Number(parent) }
    }),
  )
  return found.filter(({ parent }) => parent === pid)
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

t.test(
  'the demo shows a call that works, and leaves nothing behind',
  { skip: process.platform !== 'linux' },
  async t => {
    const cwd = await tempDir(t)
    const { PATH = '', ...environment } = cleanEnvironment()
    const anvilDir = anvilCommand.replace(/\/?anvil$/, '')
    const env = { ...environment, PATH: anvilDir === '' ? PATH : `${PATH}:${anvilDir}` }
    const demo = new Child(nodeFile, [mainFile, ...demoArguments], env, cwd)
    t.teardown(() => demo.stop('SIGTERM'))
    const shown = await demo.output('the curl line, the dashboard and its token', ({ stdout }) => {
      const curl = /curl (?:.*\\\n)*.+\n/.exec(stdout)?.[0]
      const token = /tgd_\w+/.exec(stdout)?.[0]
      const dashboard = /dashboard\s+(https?:\/\/\S+)/i.exec(stdout)?.[1]
      return curl !== undefined && token !== undefined && dashboard !== undefined
        ? { curl, dashboard, token }
        : undefined
    })

    const { stdout } = await runFile('sh', ['-c', shown.curl], { env })
    const reply = JSON.parse(stdout)
    t.equal(reply.jsonrpc, '2.0')
    t.match(reply.result, /^0x[0-9a-f]+$/)
    const [, funded] = /its key +(0x[0-9a-f]{64}) +PUBLIC TEST KEY/.exec(demo.stdout) ?? []
    const { address } = privateKeyToAccount(funded as `0x${string}`)
    t.ok(demo.stdout.includes(address), 'a funded account, marked as public')
    const [url = ''] = /https?:\/\/\S+\/v1\/rpc\/\S+/.exec(shown.curl) ?? []
    const wallet = createPublicClient({ transport: http(url) })
    t.equal(await wallet.getBalance({ address }), 10_000n * 10n ** 18n)
    const page = await get(shown.dashboard)
    t.equal(page.status, 200)
    t.match(page.text, '<title>Tollgate</title>', 'the dashboard is at its address')
    const { origin } = new URL(shown.dashboard)
    const signedIn = await fetch(`${origin}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify({ secret: shown.token }),
    })
    t.equal(signedIn.status, 200, 'the token opens it')
    t.match(signedIn.headers.get('set-cookie'), /HttpOnly/)

    const anvils = (await childrenOf(demo.pid)).filter(({ name }) => name === 'anvil')
    t.equal(anvils.length, 1, 'one node of its own')
    t.same(await demo.stop('SIGINT'), { code: 0, signal: null })
    for (const { pid } of anvils) t.notOk(isAlive(pid), 'the node is gone')
  },
)
