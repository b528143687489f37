/** A command that is a group of others: `account create`, `account list` … */
import { suggester } from '../config/suggest.ts'
import { UsageError } from './command.ts'
import type { Command } from './command.ts'

/** The group of this name; each member says in a line what it does. */
export function group(name: string, members: Readonly<Record<string, Command>>): Command {
  const names = Object.keys(members)
  const width = Math.max(...names.map(({ length }) => length)) + 2
  const lines = names.map(each => `  ${each.padEnd(width)}${members[each]?.summary ?? ''}`)
  return {
    usage: `tollgate ${name} <command> [--config DIR] [--json]

${lines.join('\n')}

tollgate ${name} <command> --help says more.`,
    members,
    // `commandFor` has found none of them.
    run([first]) {
      if (first === undefined) throw new UsageError(`say which of: ${names.join(', ')}`)
      const hint = suggester(names)(first) ?? `there are ${names.join(', ')}`
      throw new UsageError(`there is no command "${name} ${first}"; ${hint}`)
    },
  }
}

/** The member that the first words name, and the words behind them; the command itself where they name none. */
export function commandFor(
  command: Command,
  args: readonly string[],
): { readonly command: Command; readonly rest: readonly string[] } {
  const [first, ...rest] = args
  const { members = {} } = command
  const member = first !== undefined && Object.hasOwn(members, first) ? members[first] : undefined
  return member === undefined ? { command, rest: args } : commandFor(member, rest)
}
