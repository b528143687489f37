import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Child, cleanEnvironment } from './child.ts'
import { send } from './http.ts'
import { root } from './paths.ts'
import type { Teardown } from './teardown.ts'

const packaged = join(root, 'node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil')

/** The anvil of the optional dependency where there is one, else that of the PATH. */
export const anvilCommand = existsSync(packaged) ? packaged : 'anvil'

/** A real EVM node. */
export interface Anvil {
  readonly url: string
  readonly pid: number
  /** Calls it directly and gives the parsed reply. */
  call(method: string, params?: unknown): Promise<any>
  /** Mines so many empty blocks. */
  mine(blocks: number): Promise<void>
  stop(): Promise<void>
}

/** Starts anvil on a free port and awaits that it listens; it ends with the test. */
export async function startAnvil(t: Teardown, args: readonly string[] = []): Promise<Anvil> {
  const child = new Child(anvilCommand, ['--host', '127.0.0.1', '--port', '0', ...args], cleanEnvironment())
  const stop = async () => {
    await child.stop('SIGTERM')
  }
  t.teardown(stop)
  const port = await child.output('anvil listening', ({ stdout }) => {
    const found = /Listening on 127\.0\.0\.1:(\d+)\n/.exec(stdout)?.[1]
    return found === undefined ? undefined : Number(found)
  })
  const call = async (method: string, params: unknown = []): Promise<any> => {
    const reply = await send(port, { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) })
    return JSON.parse(reply.text)
  }
  const mine = async (blocks: number) => {
    await call('anvil_mine', [`0x${blocks.toString(16)}`])
  }
  return { url: `http://127.0.0.1:${port}`, pid: child.pid, call, mine, stop }
}
