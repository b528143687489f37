#!/usr/bin/env node
/** argv → command. */
import { UsageError } from './commands/command.ts'
import type { Command, Io } from './commands/command.ts'
import { Output } from './commands/output.ts'
import { ConfigError } from './config-error.ts'
import { formatProblem } from './config/problem.ts'
import { optimizeLate } from './optimizing.ts'
import { version } from './version.ts'

interface Entry {
  readonly summary: string
  /** Runs until it is stopped. */
  readonly stays?: true
  /** Loaded only when asked for, so that a small command starts fast. */
  load(): Promise<Command>
}

const commands: Readonly<Record<string, Entry>> = {
  serve: {
    summary: 'run the gateway until SIGTERM or SIGINT, then drain',
    stays: true,
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  check: {
    summary: 'check the YAML and list every problem with its place',
    load: async () => (await import('./commands/check.ts')).check,
  },
  reload: {
    summary: 'have the running gateway take an edit of the YAML, or say why not',
    load: async () => (await import('./commands/reload.ts')).reload,
  },
  explain: {
    summary: 'say what would happen to a call, and why',
    load: async () => (await import('./commands/explain.ts')).explain,
  },
  dump: {
    summary: 'print the compiled snapshot as JSON, secrets out',
    load: async () => (await import('./commands/dump.ts')).dump,
  },
  account: {
    summary: 'make, list and change accounts',
    load: async () => (await import('./commands/account.ts')).account,
  },
  endpoint: {
    summary: 'make, list and change endpoints',
    load: async () => (await import('./commands/endpoint.ts')).endpoint,
  },
  usage: {
    summary: 'show what accounts used, as a table, CSV or JSON',
    load: async () => (await import('./commands/usage.ts')).usage,
  },
  demo: {
    summary: 'try it: a local EVM node, the gateway in front of it, an account',
    stays: true,
    load: async () => (await import('./commands/demo.ts')).demo,
  },
}

const stdout = new Output(process.stdout)
const stderr = new Output(process.stderr)
const io: Io = {
  out: text => {
    stdout.line(text)
  },
  drained: () => stdout.drained(),
  err: text => {
    stderr.line(text)
  },
  env: process.env,
}

function help(): string {
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`)
  return `tollgate ${version}: a declarative gateway for blockchain RPC

tollgate <command> [--config DIR] [--json]

${lines.join('\n')}

tollgate <command> --help says more. Exit codes: 0 done, 1 refused or problems found, 2 wrong usage.`
}

async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args
  if (name === '--version') io.out(version)
  else if (name === undefined || name === '--help' || name === 'help') io.out(help())
  else return runCommand(name, rest)
  return name === undefined ? 2 : 0
}

async function runCommand(name: string, rest: readonly string[]): Promise<number> {
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (entry === undefined) {
    io.err(`tollgate: there is no command "${name}"; tollgate --help lists them`)
    return 2
  }
  if (entry.stays !== true) optimizeLate()
  const command = await entry.load()
  if (rest.includes('--help') || rest.includes('-h')) {
    io.out(command.usage)
    return 0
  }
  try {
    return await command.run(rest, io)
  } catch (error) {
    return report(error, command)
  }
}

function report(error: unknown, command: Command): number {
  if (error instanceof UsageError) {
    io.err(`tollgate: ${error.message}\n\n${command.usage}`)
    return 2
  }
  if (error instanceof ConfigError) for (const problem of error.problems) io.err(formatProblem(problem))
  io.err(`tollgate: ${error instanceof Error ? error.message : String(error)}`)
  return 1
}

process.exitCode = await main(process.argv.slice(2))
