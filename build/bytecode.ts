/**
 * Makes the bytecode of the program's script (script.ts). V8 compiles a function when it is first called, so what a new gateway does is done once: its
 * configuration is written and checked, an account made, and one call of it forwarded. Where no gateway can run the program is built without.
 */
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Io } from '../src/commands/command.ts'
import { readServing } from '../src/http/admin/serving-file.ts'
import { dist, presentBuild } from './publish.ts'
import { openScript, runScript, writeBytecode } from './script.ts'

/** Milliseconds from a start to its listeners, at most. */
const PATIENCE = 60_000

/** A node that answers any call with a number; its URL. */
async function startNode(): Promise<string> {
  const node = createServer((request, response) => {
    void json(request).then(call => {
      const { id } = call as { readonly id: unknown }
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }))
    })
  }).listen(0, '127.0.0.1')
  await once(node, 'listening')
  return `http://127.0.0.1:${(node.address() as AddressInfo).port}`
}

/** Where the gateway of a data directory listens for calls, once it serves. */
async function listening(dataDir: string): Promise<string> {
  const end = Date.now() + PATIENCE
  while (Date.now() < end) {
    const serving = readServing(dataDir)
    if (serving !== null) return serving.listen
    await pause(20)
  }
  throw new Error(`no gateway serves after ${PATIENCE / 1000} s`)
}

/** Makes the bytecode in a gateway of `dir`, which is empty; the gateway still serves behind it. */
async function makeBytecode(dir: string): Promise<void> {
  const build = presentBuild()
  if (build === undefined) throw new Error('there is no program')
  const url = pathToFileURL(join(dist, build, 'program.cjs'))
  const script = openScript(url)
  const { runProgram } = runScript(script, url)
  const dataDir = join(dir, 'data')
  const env = {
    TOLLGATE_LISTEN: '127.0.0.1:0',
    TOLLGATE_ADMIN: '127.0.0.1:0',
    TOLLGATE_DATA: dataDir,
    ETHEREUM_A_URL: await startNode(),
  }
  const run = async (words: string): Promise<string> => {
    const printed: string[] = []
    const print = (text: string): void => void printed.push(text)
    const io: Io = { out: print, drained: () => Promise.resolve(true), err: print, env, program: 'tollgate' }
    const code = await runProgram([...words.split(' '), '--config', dir], io)
    if (code !== 0) throw new Error(`tollgate ${words} exited with ${code}: ${printed.join('\n')}`)
    return printed.join('\n')
  }
  await run('init --network ethereum')
  appendFileSync(join(dir, 'gateway.yaml'), 'log: { level: warn }\n')
  await run('check')
  const created = JSON.parse(await run('account create a --plan free --chain ethereum --init --json')) as {
    readonly endpoint: { readonly apiKey: string }
  }
  const address = await Promise.race([listening(dataDir), run('serve')])
  const response = await fetch(`http://${address}/ethereum/v1/rpc/${created.endpoint.apiKey}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}',
  })
  if (response.status !== 200) throw new Error(`a call was answered with ${response.status}`)
  writeBytecode(script, url)
}

const dir = mkdtempSync(join(tmpdir(), 'tollgate-build-'))
try {
  await makeBytecode(dir)
} catch (error) {
  console.error('The bytecode could not be made, so starts of the program will take longer:', error)
} finally {
  rmSync(dir, { recursive: true, force: true })
}
// At once: its files are gone.
process.exit()
