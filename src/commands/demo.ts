/** `tollgate demo`: a real local EVM node, the gateway in front of it, and an account to call it with. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startApp } from '../runtime/alone.ts'
import type { App } from '../runtime/alone.ts'
import { Closing } from '../runtime/closing.ts'
import { openLog } from '../observe/log.ts'
import { LogOutput } from '../observe/log-output.ts'
import { packageFile } from '../config/package-file.ts'
import { servedOf } from '../http/admin/served.ts'
import { pathForm } from './accounts/endpoint-urls.ts'
import { createEndpoint } from '../management/endpoints.ts'
import { onAccounts } from './accounts/accounts.ts'
import { startAnvil, TEST_ACCOUNT } from './anvil.ts'
import { print, readArguments, UsageError } from './command.ts'
import type { Command, Io } from './command.ts'
import { loadOrThrow } from './load.ts'
import { manage } from './accounts/manage.ts'
import { signalled } from './signal.ts'

const DEVNET = fileURLToPath(packageFile('examples/devnet'))
const PORT = 8080

const OPTIONS = { port: 'string' } as const

export const demo: Command = {
  options: OPTIONS,
  usage: `tollgate demo [--port N] [--json]

Starts anvil on a fresh chain, the gateway with examples/devnet in front of it on a temporary data directory, and an
account; prints a curl line that answers. Nothing is left behind when it is stopped. --port takes the gateway's port
(default: 8080, or a free one when that is taken; 0 takes a free one).`,

  async run(args, io) {
    const { json, given } = readArguments(args, [], OPTIONS)
    const port = await freePort(portOf(given['port']))
    const closing = new Closing()
    try {
      const stopping = signalled()
      const { exited } = await start(port, json, io, closing)
      const why = await Promise.race([stopping, exited.then(() => 'the node ended by itself')])
      if (!json) io.out(`\nstopping: ${why}`)
      return why.startsWith('SIG') ? 0 : 1
    } finally {
      await closing.close()
    }
  },
}

/** Starts the parts; resolves once everything is printed. */
async function start(
  port: number,
  json: boolean,
  io: Io,
  closing: Closing,
): Promise<{ readonly exited: Promise<void> }> {
  const anvil = await startAnvil(io.env)
  closing.push(() => anvil.stop())
  const data = mkdtempSync(join(tmpdir(), 'tollgate-demo-'))
  closing.push(() => {
    rmSync(data, { recursive: true, force: true })
  })
  const env = {
    ...io.env,
    DEVNET_URL: anvil.url,
    DEVNET_WS: anvil.wsUrl,
    TOLLGATE_DATA: data,
    TOLLGATE_PORT: String(port),
    TOLLGATE_LISTEN: `127.0.0.1:${port}`,
    TOLLGATE_ADMIN: '127.0.0.1:0',
  }
  const output = new LogOutput(process.stdout.fd, sentence => {
    io.err(sentence)
  })
  const app = await startApp({ dir: DEVNET, env, output, makeLog: () => openLog('warn', output) })
  closing.push(() => app.stop())
  const made = await makeAccount({ ...io, env })
  const shown = { ...made, ...addresses(app, port), chainId: 31337, node: anvil.url, funded: TEST_ACCOUNT }
  print(io, json, shown, () => lines(shown))
  return { exited: anvil.exited }
}

interface Made {
  readonly url: string
  readonly dashboardToken: string
}

async function makeAccount(io: Io): Promise<Made> {
  const snapshot = await loadOrThrow(DEVNET, io)
  const { gateway } = snapshot
  return onAccounts(gateway, io, async store => {
    const { account, dashboardToken } = await store.accounts.create({ name: 'demo', plan: 'paid' })
    const made = await manage(createEndpoint, { chain: 'devnet', name: 'demo' }, account, {
      store,
      dataDir: gateway.dataDir,
      served: servedOf(snapshot),
    })
    if ('error' in made) throw new Error(made.error)
    const { httpsUrl } = made.result as { httpsUrl: string }
    return { url: pathForm(httpsUrl, 'devnet') ?? httpsUrl, dashboardToken }
  })
}

function addresses(app: App, port: number): { readonly dashboard: string; readonly metrics: string } {
  return { dashboard: `http://127.0.0.1:${port}/`, metrics: `http://${app.admin}/metrics` }
}

function lines({
  url,
  dashboardToken,
  dashboard,
  metrics,
  node,
}: Made & ReturnType<typeof addresses> & { node: string }): string[] {
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'
  return [
    `Tollgate stands in front of a fresh local chain (anvil, chain id 31337, ${node}).`,
    '',
    `  call it    curl -s ${url} -H 'content-type: application/json' -d '${body}'`,
    `  URL        ${url}   for viem, ethers, cast …`,
    `  funded     ${TEST_ACCOUNT.address}   has 10000 ETH of this chain`,
    `  its key    ${TEST_ACCOUNT.privateKey}   PUBLIC TEST KEY: never use it on a real chain`,
    `  dashboard  ${dashboard}   token ${dashboardToken}`,
    `  metrics    ${metrics}`,
    '  stop       Ctrl-C',
  ]
}

function portOf(given: string | boolean | undefined): number | null {
  if (typeof given !== 'string') return null
  const port = Number(given)
  if (!/^\d+$/.test(given) || port > 65_535) throw new UsageError('--port must be a port number')
  return port
}

/** The wanted port; without a wish the usual one, or a free one when that is taken. */
async function freePort(wanted: number | null): Promise<number> {
  if (wanted !== null && wanted !== 0) return wanted
  return (wanted === null ? await tryPort(PORT) : null) ?? (await tryPort(0)) ?? PORT
}

function tryPort(port: number): Promise<number | null> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => {
      resolve(null)
    })
    server.listen(port, '127.0.0.1', () => {
      const { port: bound } = server.address() as AddressInfo
      server.close(() => {
        resolve(bound)
      })
    })
  })
}
