import type { Place } from './place.ts'
import { fewValues, freeValues, knownPlaces, placeOf, wordsOf } from './place.ts'

/** The completion script for zsh: to be sourced, or a file `_tollgate` in a directory of fpath. */
export function zshScript(places: readonly Place[]): string {
  return `#compdef tollgate
# Completion of tollgate for zsh.
_tollgate() {
  local before=\${words[CURRENT - 1]} place='' at
  for ((at = 2; at < CURRENT; at++)); do
    case "$place \${words[at]}" in
      (${knownPlaces(places)}) place="$place \${words[at]}" ;;
      (*' --json') ;;
      (*' --config') at=$((at + 1)) ;;
      (*) break ;;
    esac
  done
  case "$place $before" in
    (*' --config') _files -/; return ;;
${fewValues(places, (at, values) => `    (${at}) compadd -- ${values.join(' ')}; return ;;`)}
    (${freeValues(places)}) return 1 ;;
  esac
  case "$place" in
${places.map(place => `    (${placeOf(place)}) compadd -- ${wordsOf(place).join(' ')} ;;`).join('\n')}
  esac
}
if [[ \${funcstack[1]} == _tollgate ]]; then _tollgate "$@"; else compdef _tollgate tollgate; fi`
}
