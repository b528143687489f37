/** A local EVM node for `demo`: Foundry's anvil, from the npm package of a checkout or the PATH. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'

/** The phrase that every anvil has its accounts from, and the first of them: anybody can spend what they hold on any chain. */
const MNEMONIC = 'test test test test test test test test test test test junk'
export const TEST_ACCOUNT = {
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  privateKey: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
} as const

/** A running node. */
export interface Anvil {
  readonly url: string
  readonly wsUrl: string
  /** Resolves when the process has ended, whoever ended it. */
  readonly exited: Promise<void>
  stop(): Promise<void>
}

/** Where anvil is, or null. */
export function findAnvil(env: Readonly<Record<string, string | undefined>>): string | null {
  const packaged = packagedAnvil()
  if (packaged !== null) return packaged
  const places = (env['PATH'] ?? '').split(delimiter).map(dir => join(dir, 'anvil'))
  return places.find(place => existsSync(place)) ?? null
}

function packagedAnvil(): string | null {
  try {
    const manifest = createRequire(import.meta.url).resolve(
      `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}/package.json`,
    )
    const binary = join(dirname(manifest), 'bin', 'anvil')
    return existsSync(binary) ? binary : null
  } catch {
    return null
  }
}

/** Starts a fresh chain (id 31337) on a free port of the loopback; rejects with one sentence. */
export async function startAnvil(env: Readonly<Record<string, string | undefined>>): Promise<Anvil> {
  const binary = findAnvil(env)
  if (binary === null)
    throw new Error(
      'anvil was not found: run the demo in a checkout after npm ci, or install Foundry so that anvil is on the PATH',
    )
  const args = ['--host', '127.0.0.1', '--port', '0', '--mnemonic', MNEMONIC]
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = new Promise<void>(resolve => {
    child.once('close', () => {
      resolve()
    })
  })
  const address = await listening(child)
  return {
    url: `http://${address}`,
    wsUrl: `ws://${address}`,
    exited,
    stop: () => {
      child.kill('SIGTERM')
      return exited
    },
  }
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const read = (chunk: Buffer): void => {
      text = (text + chunk.toString()).slice(-10_000)
      const found = /Listening on (\S+)/.exec(text)?.[1]
      if (found !== undefined) resolve(found)
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('error', error => {
      reject(new Error(`anvil does not start: ${error.message}`))
    })
    child.once('close', code => {
      reject(new Error(`anvil ended with ${code ?? 'a signal'}: ${text.trim().split('\n').at(-1) ?? ''}`))
    })
  })
}
