import { fewValues, freeValues, knownPlaces, placeOf, wordsOf } from './place.ts'
import type { Place } from './place.ts'

/** The completion script for bash, 3.2 and newer. */
export function bashScript(places: readonly Place[]): string {
  return `# Completion of tollgate for bash.
_tollgate() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} place='' words='' at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "$place \${COMP_WORDS[at]}" in
      ${knownPlaces(places)}) place="$place \${COMP_WORDS[at]}" ;;
      *' --json') ;;
      *' --config') at=$((at + 1)) ;;
      *) break ;;
    esac
  done
  COMPREPLY=()
  case "$place $before" in
    *' --config')
      local IFS=$'\\n'
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -d -- "$word"))
      return ;;
${fewValues(places, (at, values) => `    ${at}) words='${values.join(' ')}' ;;`)}
    ${freeValues(places)}) return ;;
    *)
      case "$place" in
${places.map(place => `        ${placeOf(place)}) words='${wordsOf(place).join(' ')}' ;;`).join('\n')}
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -F _tollgate tollgate`
}
