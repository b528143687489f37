#!/usr/bin/env node
/** argv → command. */
import { account } from './commands/account.ts'
import { check } from './commands/check.ts'
import { UsageError } from './commands/command.ts'
import type { Command, Io } from './commands/command.ts'
import { demo } from './commands/demo.ts'
import { dump } from './commands/dump.ts'
import { endpoint } from './commands/endpoint.ts'
import { explain } from './commands/explain.ts'
import { serve } from './commands/serve.ts'
import { usage } from './commands/usage.ts'
import { ConfigError } from './config-error.ts'
import { formatProblem } from './config/problem.ts'
import { version } from './version.ts'

const commands: Readonly<Record<string, Command>> = {
  serve,
  check,
  explain,
  dump,
  account,
  endpoint,
  usage,
  demo,
}

const io: Io = {
  out: text => {
    process.stdout.write(`${text}\n`)
  },
  err: text => {
    process.stderr.write(`${text}\n`)
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
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) {
    io.err(`tollgate: there is no command "${name}"; tollgate --help lists them`)
    return 2
  }
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
