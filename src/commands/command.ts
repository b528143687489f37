/** What a command of `tollgate` is. */
import { parseArgs } from 'node:util'

/** The outside of a command; tests give their own. */
export interface Io {
  /** Writes to stdout, a line. */
  out(text: string): void
  /** Resolves once stdout takes more without holding it in memory; false when nobody reads it any more. */
  drained(): Promise<boolean>
  /** Writes to stderr, a line. */
  err(text: string): void
  readonly env: Readonly<Record<string, string | undefined>>
}

/** One command. `run` resolves to the exit code: 0 done, 1 refused or problems found. */
export interface Command {
  /** How it is used, shown by `--help`. */
  readonly usage: string
  run(args: readonly string[], io: Io): Promise<number>
}

/** The words after the command make no sense: exit code 2. */
export class UsageError extends Error {}

/** Options that every command takes. */
const COMMON = {
  config: { type: 'string', default: '.' },
  json: { type: 'boolean', default: false },
} as const

/** A command's arguments. */
export interface Arguments {
  /** The configuration directory. */
  readonly config: string
  readonly json: boolean
  readonly words: readonly string[]
  /** The command's own options as given. */
  readonly given: Readonly<Record<string, string | boolean | undefined>>
}

/** Reads `args`; `words` names the positional ones, `options` the command's own. */
export function readArguments(
  args: readonly string[],
  words: readonly string[],
  options: Readonly<Record<string, 'string' | 'boolean'>> = {},
): Arguments {
  let parsed
  try {
    const own = Object.fromEntries(Object.entries(options).map(([name, type]) => [name, { type }]))
    parsed = parseArgs({ args: [...args], options: { ...COMMON, ...own }, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
  const { positionals, values } = parsed
  const missing = words[positionals.length]
  if (missing !== undefined) throw new UsageError(`<${missing}> is missing`)
  const extra = positionals[words.length]
  if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many`)
  const { config, json, ...given } = values as Record<string, string | boolean | undefined>
  return { config: String(config), json: json === true, words: positionals, given }
}

/** Prints what a command found: one JSON value, or lines for a person. */
export function print(io: Io, json: boolean, value: unknown, lines: () => readonly string[]): void {
  if (json) io.out(JSON.stringify(value, null, 2))
  else for (const line of lines()) io.out(line)
}

/** Says why a command was refused; resolves to the exit code. */
export function fail(io: Io, json: boolean, message: string): number {
  if (json) io.out(JSON.stringify({ error: message }))
  io.err(`tollgate: ${message}`)
  return 1
}
