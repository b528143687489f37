import t from 'tap'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { format as gofmt } from '@wasm-fmt/gofmt'
import { transform } from 'esbuild'
import { snippets } from '../../dashboard/src/text/snippets.ts'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { root } from '../support/paths.ts'
import { startNode } from '../support/scripted-node.ts'
import { sideBySide } from '../support/side-by-side.ts'
import { tempDir } from '../support/temp-dir.ts'

const runFile = promisify(execFile)
/** With Foundry's cast of the npm registry. */
const env = {
  ...process.env,
  PATH: [process.env['PATH'], join(root, 'node_modules/@foundry-rs/cast-linux-amd64/bin')].join(delimiter),
}

t.test('the snippets that the dashboard offers run as they are', async t => {
  const node = await startNode(t, { chainId: 1001, head: 4242 })
  const gateway = await startGateway(t, {
    networks: {
      alpha: { chainId: 1001 },
      sol: { family: 'solana', chainId: 'solana-test' },
      any: { family: 'jsonrpc', chainId: 'any' },
    },
    routes: [
      { id: 'alpha-a', network: 'alpha', http: node.url, ws: node.url.replace('http', 'ws') },
      { id: 'sol-a', network: 'sol', http: node.url },
      { id: 'any-a', network: 'any', http: node.url },
    ],
  })
  const evm = await createAccess(gateway, 'paid', 'alpha')
  const urls = { evm: evm.url, solana: (await createAccess(gateway, 'paid', 'sol')).url }
  t.strictSame(
    [...snippets.evm, ...snippets.solana].map(({ tool }) => tool),
    ['curl', 'viem', 'ethers', 'web3.py', 'Go', 'Rust', 'Foundry', 'Hardhat', 'WSS', 'curl', '@solana/kit'],
  )
  const run = new Set(['curl', 'viem', 'ethers', '@solana/kit'])
  const here = (['evm', 'solana'] as const).flatMap(family =>
    snippets[family].filter(({ tool }) => run.has(tool)).map(snippet => ({ family, ...snippet })),
  )
  await sideBySide(here, async ({ family, tool, code }) => {
    const [command, ...flags] =
      tool === 'curl' ? ['sh', '-c'] : [process.execPath, '--input-type=module', '-e']
    const { stdout } = await runFile(command, [...flags, code(urls[family])], { cwd: root, timeout: 60_000 })
    t.match(stdout, /4242|0x1092/, `${tool} on ${family}`)
  })
  const [curl] = snippets.jsonrpc
  const any = (await createAccess(gateway, 'paid', 'any')).url
  t.match((await runFile('sh', ['-c', curl!.code(any)])).stdout, /"result":.*"chainId":1001/)

  const of = (tool: string) => snippets.evm.find(one => one.tool === tool)!
  await t.test('over WSS, the block of now is printed', async t => {
    const wss = of('WSS')
    t.equal(wss.url, 'wssUrl')
    const args = ['--input-type=module', '-e', wss.code(evm.url.replace('http', 'ws'))]
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    t.teardown(() => child.kill())
    const [first] = (await once(child.stdout, 'data')) as [Buffer]
    t.match(first.toString(), /4242/)
  })

  await t.test('web3.py', { skip: !has('python3') && 'python3 was not found' }, async t => {
    const code = of('web3.py').code(evm.url)
    await feed('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], code)
    const isHere = spawnSync('python3', ['-c', 'import web3']).status === 0
    const dir = await tempDir(t)
    if (!isHere) await writeFile(join(dir, 'web3.py'), WEB3)
    t.match(await feed('python3', ['-'], code, { PYTHONPATH: dir }), /^4242$/m, 'it runs')
  })

  t.test('Go', t => {
    const code = `${of('Go').code(evm.url)}\n`
    t.equal(gofmt(code), code, 'it is parsed, and laid out as Go is')
    t.throws(() => gofmt(code.replace('ethclient.Dial(', 'ethclient.Dial[')), 'as a mistake would show')
    t.end()
  })

  await t.test('Rust', { skip: !has('rustfmt') && 'rustfmt was not found (Debian: rustfmt)' }, async t => {
    const code = of('Rust').code(evm.url)
    t.equal(
      await feed('rustfmt', ['--edition', '2021'], `${code}\n`),
      `${code}\n`,
      'it is parsed, and laid out',
    )
  })

  await t.test(
    'Foundry',
    { skip: !has('cast') && 'cast was not found, neither as the optional package nor on the PATH' },
    async t => {
      t.match(await feed('sh', ['-s'], of('Foundry').code(evm.url)), /^4242$/m)
    },
  )

  // Hardhat itself is 100 MB and wants a newer Node.js than the oldest that runs here.
  await t.test('Hardhat', async t => {
    const { code } = await transform(of('Hardhat').code(evm.url), { loader: 'ts' })
    const types = importable('export const defineConfig = config => config')
    const file = importable(code.replace('"hardhat/config"', `"${types}"`))
    const { default: config } = (await import(file)) as { default: { networks: unknown } }
    t.strictSame(config.networks, { main: { type: 'http', url: evm.url } })
  })
})

/** What the program calls of web3.py, where that is not installed: Debian has no package of it. */
const WEB3 = `import json, urllib.request

class Eth:
    def __init__(self, url):
        self.url = url

    @property
    def block_number(self):
        call = {'jsonrpc': '2.0', 'id': 1, 'method': 'eth_blockNumber', 'params': []}
        head = {'content-type': 'application/json'}
        with urllib.request.urlopen(urllib.request.Request(self.url, json.dumps(call).encode(), head)) as reply:
            return int(json.load(reply)['result'], 16)

class Web3:
    HTTPProvider = str

    def __init__(self, url):
        self.eth = Eth(url)
`

/** The address of a program that can be imported. */
const importable = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`

/** Whether a program can be started. */
function has(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore', env }).error === undefined
}

/** Gives a program its input, and what it prints; rejects when it fails. */
async function feed(
  program: string,
  args: readonly string[],
  input: string,
  also: Readonly<Record<string, string>> = {},
): Promise<string> {
  const running = runFile(program, args, { cwd: root, timeout: 60_000, env: { ...env, ...also } })
  running.child.stdin?.end(input)
  return (await running).stdout
}
