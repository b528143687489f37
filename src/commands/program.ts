/** The command line: which command the words ask for, and what it comes to. */
import { UsageError } from './command.ts'
import type { Command, Entry, Io } from './command.ts'
import { typed } from './output/called-as.ts'
import { commonBefore } from './common-before.ts'
import { commandFor } from './group.ts'
import { printableIo } from './output/printable-io.ts'
import { asksJson, tellRefused } from './output/refused.ts'
import { suggester } from '../config/words/suggest.ts'
import { version } from '../config/version.ts'

const commands: Readonly<Record<string, Entry>> = {
  serve: {
    summary: 'run the gateway until SIGTERM or SIGINT, then drain',
    load: async () => (await import('./serve.ts')).serve,
  },
  init: {
    summary: 'write the smallest configuration for some of the shipped networks',
    load: async () => (await import('./init.ts')).init,
  },
  check: {
    summary: 'check the YAML and list every problem with its place',
    load: async () => (await import('./check.ts')).check,
  },
  reload: {
    summary: 'have the running gateway take an edit of the YAML, or say why not',
    load: async () => (await import('./reload.ts')).reload,
  },
  explain: {
    summary: 'say what would happen to a call, and why',
    load: async () => (await import('./explain/explain.ts')).explain,
  },
  cache: {
    summary: 'drop answers that the running gateway keeps',
    load: async () => (await import('./cache/cache.ts')).cache,
  },
  dump: {
    summary: 'print the compiled snapshot as JSON, secrets out',
    load: async () => (await import('./dump.ts')).dump,
  },
  account: {
    summary: 'make, list and change accounts',
    load: async () => (await import('./accounts/account.ts')).account,
  },
  endpoint: {
    summary: 'make, list and change endpoints',
    load: async () => (await import('./accounts/endpoint.ts')).endpoint,
  },
  token: {
    summary: 'make, list and revoke tokens of the admin API',
    load: async () => (await import('./token.ts')).token,
  },
  find: {
    summary: 'say whose a key, an endpoint or a request is',
    load: async () => (await import('./find.ts')).find,
  },
  trace: {
    summary: "print one customer's calls as they come",
    load: async () => (await import('./trace.ts')).trace,
  },
  top: {
    summary: 'list who used most',
    load: async () => (await import('./top.ts')).top,
  },
  audit: {
    summary: 'list who changed what, and when',
    load: async () => (await import('./audit.ts')).audit,
  },
  backup: {
    summary: 'copy all data of one moment, while the gateway runs',
    load: async () => (await import('./data/backup.ts')).backup,
  },
  restore: {
    summary: 'make a data directory of a backup',
    load: async () => (await import('./data/backup.ts')).restore,
  },
  migrate: {
    summary: 'bring PostgreSQL up to date, and take the data of this machine there',
    load: async () => (await import('./migrate.ts')).migrate,
  },
  'master-key': {
    summary: 'replace the key that seals keys at rest',
    load: async () => (await import('./data/master-key.ts')).masterKey,
  },
  usage: {
    summary: 'show what accounts used, as a table, CSV, JSON or Stripe meter events',
    load: async () => (await import('./usage/usage.ts')).usage,
  },
  nodes: {
    summary: 'list the gateways that share a PostgreSQL',
    load: async () => (await import('./nodes/nodes.ts')).nodes,
  },
  node: {
    summary: 'no longer wait for a gateway that does not come back',
    load: async () => (await import('./nodes/nodes.ts')).node,
  },
  spool: {
    summary: 'send what a dead machine has left of usage to PostgreSQL',
    load: async () => (await import('./nodes/spool.ts')).spool,
  },
  demo: {
    summary: 'try it: a local EVM node, the gateway in front of it, an account',
    load: async () => (await import('./demo.ts')).demo,
  },
  completion: {
    summary: 'print a completion script for bash, zsh or fish',
    load: async () => (await import('./completion/completion.ts')).completion(commands),
  },
}

function help(): string {
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(12)}${summary}`)
  return `tollgate ${version}: a declarative gateway for blockchain RPC

tollgate <command> [--config DIR] [--json]

${lines.join('\n')}

tollgate <command> --help says more. Exit codes: 0 done, 1 refused or problems found, 2 wrong usage.`
}

const HELP = ['--help', '-h']

/** Runs what is typed behind the program's name; resolves to the exit code. */
export async function runProgram(args: readonly string[], given: Io): Promise<number> {
  const io = printableIo(given)
  try {
    const { before, rest } = commonBefore(args, Object.keys(commands), ['--version'])
    return await choose(rest, before, io)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return tellRefused(error, args, io)
  }
}

async function choose(
  [name, ...rest]: readonly string[],
  before: readonly string[],
  io: Io,
): Promise<number> {
  if (name === '--version') io.out(version)
  else if (name === 'help' && rest.length > 0) return choose([...rest, '--help'], before, io)
  else if (name === undefined && asksJson(before))
    throw new UsageError(`a command is missing; ${typed(io, ['--help'])} lists them`)
  else if (name === undefined || name === 'help' || HELP.includes(name)) io.out(help())
  else return runCommand(name, [...before, ...rest], io)
  return name === undefined ? 2 : 0
}

async function runCommand(name: string, words: readonly string[], io: Io): Promise<number> {
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (entry === undefined) {
    const hint = suggester(Object.keys(commands))(name) ?? `${typed(io, ['--help'])} lists them`
    throw new UsageError(`there is no command "${name}"; ${hint}`)
  }
  const { command, rest } = commandFor(await entry.load(), words)
  if (isHelp(command, rest)) {
    io.out(command.usage)
    return 0
  }
  try {
    return await command.run(rest, io)
  } catch (error) {
    return tellRefused(error, words, io, command.usage)
  }
}

/** Behind a group's name a word that is none of its members is a mistake, which help would hide. */
function isHelp({ members }: Command, rest: readonly string[]): boolean {
  const isMistaken = members !== undefined && rest[0]?.startsWith('-') === false
  return !isMistaken && HELP.some(option => rest.includes(option))
}
