import { COMMON, UsageError } from './command.ts'
import { unknown } from './unknown.ts'

/** What may stand in the place of a command. */
const HELP = ['--help', '-h']

/**
 * Splits off the options of every command that stand before a word, which is one of `names`; `own` are other options that may stand
 * there. Throws a sentence about any other option.
 */
export function commonBefore(
  args: readonly string[],
  names: readonly string[],
  own: readonly string[] = [],
): { readonly before: readonly string[]; readonly rest: readonly string[] } {
  let count = 0
  for (let arg = args[0]; arg?.startsWith('-') === true; arg = args[count]) {
    if (HELP.includes(arg) || own.includes(arg)) break
    const name = arg.replace(/=.*$/s, '')
    const kind = Object.entries(COMMON).find(([common]) => name === `--${common}`)?.[1]
    if (kind === undefined) throw misplaced(name, args, names, own)
    const takesNext = kind !== 'boolean' && name === arg
    if (takesNext && args[count + 1] === undefined) throw new UsageError(`${name} needs a value`)
    count += takesNext ? 2 : 1
  }
  return { before: args.slice(0, count), rest: args.slice(count) }
}

/** An option of the command itself, most likely, or a slip. */
function misplaced(
  option: string,
  args: readonly string[],
  names: readonly string[],
  own: readonly string[],
): UsageError {
  const known = [...Object.keys(COMMON).map(name => `--${name}`), '--help', ...own]
  const word = args.find(arg => names.includes(arg))
  const slip = unknown('option', option, known)
  return new UsageError(
    word === undefined || slip.includes('did you mean')
      ? slip
      : `"${option}" stands before "${word}"; put it behind it`,
  )
}
