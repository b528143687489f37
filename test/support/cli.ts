import { spawnSync } from 'node:child_process'
import type { runProgram } from '../../src/commands/program.ts'
import { Child, cleanEnvironment } from './child.ts'
import { mainFile, nodeFile, program, programFile } from './paths.ts'

/** What dist/program.js has. */
interface Program {
  readonly runProgram: typeof runProgram
}

let loaded: Promise<Program> | undefined

/** Loads it without its source maps, which Node.js would read for each chunk. */
async function loadProgram(file: string): Promise<Program> {
  const mapped = process.sourceMapsEnabled
  process.setSourceMapsEnabled(false)
  try {
    return (await import(file)) as Program
  } finally {
    process.setSourceMapsEnabled(mapped)
  }
}

/** What a finished command leaves. */
export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs `tollgate <args>` to its end, in this process: a process of its own costs as much CPU as ten commands. Under another Node.js, or of
 * another program, it is a process.
 */
export async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  if (programFile === null) return runProcess(args, env)
  loaded ??= loadProgram(programFile)
  const built = await loaded
  const [out, err]: [string[], string[]] = [[], []]
  const mask = process.umask(0)
  process.umask(mask)
  const code = await built.runProgram(args, {
    out: text => out.push(text),
    drained: () => Promise.resolve(true),
    err: text => err.push(text),
    env: cleanEnvironment(env),
    program,
  })
  // A command keeps what it writes from others, for the rest of its process.
  process.umask(mask)
  return { code, stdout: lines(out), stderr: lines(err) }
}

function lines(texts: readonly string[]): string {
  return texts.map(text => `${text}\n`).join('')
}

/** The same in a process of its own. */
export async function runProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const child = new Child(nodeFile, [mainFile, ...args], cleanEnvironment(env))
  const { code } = await child.exited
  return { code, stdout: child.stdout, stderr: child.stderr }
}

/** The same as a process of somebody without rights, for modes do not bind root; who is not root stays who he is. */
export function runWithoutRights(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): CommandResult {
  const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  // What the test runner adds to children would write where this one may not.
  const { status, stdout, stderr } = spawnSync('env', ['-u', 'NODE_OPTIONS', nodeFile, mainFile, ...args], {
    ...nobody,
    encoding: 'utf8',
    cwd: '/',
    env: cleanEnvironment(env),
  })
  return { code: status, stdout, stderr }
}

/** Runs `tollgate <args> --config DIR --json`, which must succeed, and gives its value. */
export async function runJson(
  dir: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<any> {
  const { code, stdout, stderr } = await run([...args, '--config', dir, '--json'], env)
  if (code !== 0) throw new Error(`tollgate ${args.join(' ')} exited with ${code}: ${stdout}${stderr}`)
  return JSON.parse(stdout)
}

/** What `account create --json` prints. */
export interface CreatedAccount {
  readonly accountId: string
  readonly name: string
  readonly plan: string
  readonly dashboardToken: string
  readonly endpoint: { readonly endpointId: string; readonly apiKey: string; readonly chain: string }
}

/** Creates an account with its first endpoint. */
export async function createAccount(dir: string, plan: string, chain: string): Promise<CreatedAccount> {
  const created: CreatedAccount = await runJson(dir, [
    'account',
    'create',
    `test-${plan}`,
    '--plan',
    plan,
    '--chain',
    chain,
    '--init',
  ])
  return created
}
