import type { OptionKind } from '../command.ts'
import type { Place } from './place.ts'

/** The completion script for fish. */
export function fishScript(places: readonly Place[]): string {
  return `# Completion of tollgate for fish.
function __tollgate_words
    set -l words (commandline -opc)
    set -e words[1]
    # Options of every command may stand before it.
    while contains -- "$words[1]" --json --config
        test "$words[1]" = --config; and set -e words[1]
        set -q words[1]; and set -e words[1]
    end
    printf '%s\\n' $words
end
function __tollgate_is
    set -l words (__tollgate_words)
    test "$words" = "$argv"
end
function __tollgate_in
    set -l words (__tollgate_words)
    test (count $words) -ge (count $argv); and test "$words[1..(count $argv)]" = "$argv"
end
complete -c tollgate -f
${places.flatMap(linesOf).join('\n')}`
}

function linesOf({ path, words, options }: Place): string[] {
  // Words stand right behind the place, options anywhere behind a command that has no members.
  const isLeaf = path.length > 0 && options.length > 1
  const here = [`__tollgate_is`, ...path].join(' ')
  const within = [isLeaf ? '__tollgate_in' : '__tollgate_is', ...path].join(' ')
  return [
    ...words.map(([word, summary]) => `complete -c tollgate -n '${here}' -a ${word}${described(summary)}`),
    ...options.map(([name, kind]) => `complete -c tollgate -n '${within}' -l ${name}${valueOf(name, kind)}`),
  ]
}

function described(summary: string): string {
  return summary === '' ? '' : ` -d '${summary.replaceAll("'", "\\'")}'`
}

function valueOf(name: string, kind: OptionKind): string {
  if (kind === 'boolean') return ''
  if (name === 'config') return ` -x -a '(__fish_complete_directories)'`
  return typeof kind === 'string' ? ' -x' : ` -x -a '${kind.join(' ')}'`
}
