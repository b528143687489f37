/** A command that is a group of others: `account create`, `account list` … */
import { UsageError } from './command.ts'
import type { Command } from './command.ts'

/** Runs the member that the first word names. */
export function group(members: Readonly<Record<string, Command>>): Command {
  const names = Object.keys(members)
  return {
    usage: names.map(name => members[name]?.usage ?? '').join('\n\n'),
    run([first, ...rest], io) {
      const member = first === undefined || !Object.hasOwn(members, first) ? undefined : members[first]
      if (member === undefined) throw new UsageError(`say which of: ${names.join(', ')}`)
      return member.run(rest, io)
    },
  }
}
