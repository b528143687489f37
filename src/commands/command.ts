/** What a command of `tollgate` is. */
import { parseArgs } from 'node:util'
import { escapeLine } from '../config/words/printable.ts'
import { unknown } from './unknown.ts'

/** The outside of a command; tests give their own. */
export interface Io {
  /** Writes to stdout, a line; `done` says on stderr what was done, where it cannot be written, `once` that it is shown only now. */
  out(text: string, done?: string, once?: boolean): void
  /** Resolves once stdout takes more without holding it in memory; false when nobody reads it any more. */
  drained(): Promise<boolean>
  /** Writes to stderr, a line. */
  err(text: string): void
  readonly env: Readonly<Record<string, string | undefined>>
  /** How the program was called; hints repeat it. */
  readonly program: string
}

/** What an option takes: a value of any kind, such a value each time it is given, one of some words, or nothing. */
export type OptionKind = 'string' | 'strings' | 'boolean' | readonly string[]

/** Options by name, without their dashes. */
export type Options = Readonly<Record<string, OptionKind>>

/** One command. `run` resolves to the exit code: 0 done, 1 refused or problems found. */
export interface Command {
  /** How it is used, shown by `--help`. */
  readonly usage: string
  /** What a member of a group does, in a line. */
  readonly summary?: string
  /** Its own options; what it reads with `readArguments`, and what is completed. */
  readonly options?: Options
  /** What its first word may be, where that is settled. */
  readonly choices?: readonly string[]
  /** The commands of a group. */
  readonly members?: Readonly<Record<string, Command>>
  run(args: readonly string[], io: Io): Promise<number>
}

/** A command in the table of `program.ts`. */
export interface Entry {
  readonly summary: string
  /** Loaded only when asked for, so that a small command starts fast. */
  load(): Promise<Command>
}

/** The words after the command make no sense: exit code 2. */
export class UsageError extends Error {}

/** Options that every command takes. */
export const COMMON: Options = { config: 'string', json: 'boolean' }

/** A command's arguments. */
export interface Arguments {
  /** The configuration directory. */
  readonly config: string
  readonly json: boolean
  readonly words: readonly string[]
  /** The command's own options as given. */
  readonly given: Readonly<Record<string, string | boolean | undefined>>
  /** The values of options that may be given several times. */
  readonly lists: Readonly<Record<string, readonly string[]>>
}

/** `a, b or c`. */
const OR = new Intl.ListFormat('en-GB', { type: 'disjunction' })

/** Reads `args`; `words` names the positional ones, with a `?` those that may be left out; `options` are the command's own. */
export function readArguments(
  args: readonly string[],
  words: readonly string[],
  options: Options = {},
): Arguments {
  const known: Options = { ...COMMON, ...options }
  const types = Object.fromEntries(
    Object.entries(known).map(([name, kind]) => [name, { type: typeOf(kind), multiple: kind === 'strings' }]),
  )
  refuseSlips(args, types)
  let parsed
  try {
    parsed = parseArgs({ args: [...args], options: types, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
  const { positionals } = parsed
  const missing = words[positionals.length]
  if (missing !== undefined && !missing.endsWith('?')) throw new UsageError(`<${missing}> is missing`)
  const extra = positionals[words.length]
  if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}"`)
  const lists: Record<string, readonly string[]> = {}
  for (const [name, kind] of Object.entries(known))
    if (kind === 'strings') {
      lists[name] = (parsed.values[name] ?? []) as string[]
      delete parsed.values[name]
    }
  const { config = '.', json, ...given } = parsed.values as Arguments['given']
  if (config === '') throw new UsageError('--config is empty; it takes a directory')
  for (const [name, kind] of Object.entries(known)) {
    const value = given[name]
    if (typeof kind !== 'string' && value !== undefined && !kind.includes(String(value)))
      throw new UsageError(`--${name} must be ${OR.format(kind)}`)
  }
  return { config: String(config), json: json === true, words: positionals, given, lists }
}

type Types = Readonly<Record<string, { readonly type: 'string' | 'boolean'; readonly multiple: boolean }>>

function typeOf(kind: OptionKind): 'string' | 'boolean' {
  return kind === 'boolean' ? kind : 'string'
}

/**
 * Node's own words about an option that is not there suggest a positional argument; what is meant is mostly another option. Of a value
 * that is given twice it takes the last one, and nobody knows which was meant.
 */
function refuseSlips(args: readonly string[], options: Types): void {
  const { tokens } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const valued = new Set<string>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined
    if (option !== undefined) refuseMissing(token, option.type)
    if (option?.type === 'string' && !option.multiple) {
      if (valued.has(token.name)) throw new UsageError(`--${token.name} is given twice`)
      valued.add(token.name)
    }
    if (option !== undefined) continue
    const names = [...Object.keys(options), 'help'].map(name => `--${name}`)
    throw new UsageError(unknown('option', token.rawName, names))
  }
}

interface OptionToken {
  readonly name: string
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

/** The option behind an option is not its value: whoever means that writes `--name=-value`. */
function refuseMissing({ name, value, inlineValue }: OptionToken, type: 'string' | 'boolean'): void {
  if (type === 'boolean' && value !== undefined) throw new UsageError(`--${name} takes no value`)
  const isMissing = value === undefined || (inlineValue !== true && /^-./.test(value))
  if (type === 'string' && isMissing) throw new UsageError(`--${name} needs a value`)
}

/**
 * Prints what a command found: one JSON value, or lines for a person, in one piece, so that a reader has all of it or nothing. `done` is a sentence
 * about what was changed, for whom it cannot be written; `once` that it holds a secret which is shown only now.
 */
export function print(
  io: Io,
  json: boolean,
  value: unknown,
  lines: () => readonly string[],
  done?: string,
  once = false,
): void {
  const text = json ? JSON.stringify(value, null, 2) : lines().map(escapeLine).join('\n')
  if (json || text !== '') io.out(text, done, once)
}

/** Of a change that the caller knows as it asked for it. */
export const CHANGED = 'the change was made'

/** Says why a command was refused; resolves to the exit code. */
export function fail(io: Io, json: boolean, message: string): number {
  if (json) io.out(JSON.stringify({ error: message }))
  io.err(`tollgate: ${escapeLine(message)}`)
  return 1
}
