/** A command that is a group of others: `account create`, `account list` … */
import { UsageError } from './command.ts'
import type { Command } from './command.ts'
import { commonBefore } from './common-before.ts'
import { unknown } from './unknown.ts'

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
      if (first === undefined) throw new UsageError(`missing subcommand; expected one of ${names.join(', ')}`)
      throw new UsageError(unknown('command', first, names, name))
    },
  }
}

/** The member that the first words name, and the words for it; the command itself where they name none. */
export function commandFor(
  command: Command,
  args: readonly string[],
): { readonly command: Command; readonly rest: readonly string[] } {
  const { members } = command
  if (members === undefined) return { command, rest: args }
  const { before, rest: words } = commonBefore(args, Object.keys(members))
  const [first, ...rest] = words
  const member = first !== undefined && Object.hasOwn(members, first) ? members[first] : undefined
  return member === undefined ? { command, rest: words } : commandFor(member, [...before, ...rest])
}
