/** `tollgate completion`: the table of commands as a script for the shell. */
import { COMMON, readArguments, UsageError } from '../command.ts'
import type { Command, Entry, OptionKind } from '../command.ts'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { zshScript } from './zsh.ts'
import type { Place } from './place.ts'

const SCRIPTS: Readonly<Record<string, (places: readonly Place[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** The command, for this table. */
export function completion(commands: Readonly<Record<string, Entry>>): Command {
  return {
    choices: Object.keys(SCRIPTS),
    usage: `tollgate completion bash|zsh|fish

Prints a script that completes commands, their options, and the values of options that take one of a few words.

  bash   source <(tollgate completion bash)          in ~/.bashrc
  zsh    source <(tollgate completion zsh)           in ~/.zshrc, behind compinit
  fish   tollgate completion fish | source           in ~/.config/fish/config.fish`,

    async run(args, io) {
      const { words } = readArguments(args, ['shell'])
      const script = Object.hasOwn(SCRIPTS, words[0]!) ? SCRIPTS[words[0]!] : undefined
      if (script === undefined) throw new UsageError('the shell must be bash, zsh or fish')
      io.out(script(await placesOf(commands)))
      return 0
    },
  }
}

async function placesOf(commands: Readonly<Record<string, Entry>>): Promise<Place[]> {
  const places: Place[] = [
    {
      path: [],
      words: Object.entries(commands).map(([name, { summary }]) => [name, summary]),
      options: [...Object.entries(COMMON), ...HELP, ['version', 'boolean']],
    },
  ]
  for (const [name, entry] of Object.entries(commands)) places.push(...below([name], await entry.load()))
  return places
}

const HELP: readonly (readonly [string, OptionKind])[] = [['help', 'boolean']]

/** The place of a command and those of its members. */
function below(path: readonly string[], { members, choices = [], options = {} }: Command): Place[] {
  if (members === undefined) {
    const words = choices.map(word => [word, ''] as const)
    return [{ path, words, options: [...Object.entries({ ...options, ...COMMON }), ...HELP] }]
  }
  const words = Object.entries(members).map(([name, { summary }]) => [name, summary ?? ''] as const)
  const others = Object.entries(members).flatMap(([name, member]) => below([...path, name], member))
  return [{ path, words, options: HELP }, ...others]
}
