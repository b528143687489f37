import { distance } from 'fastest-levenshtein'

/** Answers `did you mean "trace"?` for a word close to a known one. */
export type Suggest = (word: string) => string | undefined

/** How many unknown words are compared: a file with thousands of them has one finding, not thousands. */
const MOST_LOOKUPS = 200

/** Knows `words` and suggests the nearest one. */
export function suggester(words: Iterable<string>): Suggest {
  const known = [...words]
  const found = new Map<string, string | undefined>()
  return word => {
    if (!found.has(word)) {
      if (found.size >= MOST_LOOKUPS) return undefined
      found.set(word, nearest(word, known))
    }
    const match = found.get(word)
    return match === undefined ? undefined : `did you mean "${match}"?`
  }
}

/** Letters of a beginning that say enough. */
const FEWEST = 3

/** Letters of a word that anybody would misspell: the comparison takes time by their number. */
const LONGEST = 256

/** The known word nearest to `word`, when a third of its letters at most would have to change; else the only one that begins with it. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > LONGEST) return undefined
  return alike(word, known) ?? begunBy(word, known)
}

/** Changes that a slip of the fingers makes of a word at most. */
const MOST_CHANGES = 2

/** The known word that `word` is probably a misspelling of. Words that differ in digits alone are versions of each other. */
export function misspelled(word: string, known: readonly string[]): string | undefined {
  const match = alike(word, known)
  if (match === undefined || match === word || withoutDigits(match) === withoutDigits(word)) return undefined
  return changesBetween(word.toLowerCase(), match.toLowerCase()) <= MOST_CHANGES ? match : undefined
}

function withoutDigits(word: string): string {
  return word.replace(/[0-9]/g, '')
}

function begunBy(word: string, known: readonly string[]): string | undefined {
  if (word.length < FEWEST) return undefined
  const begun = known.filter(candidate => candidate.toLowerCase().startsWith(word.toLowerCase()))
  return begun.length === 1 ? begun[0] : undefined
}

function alike(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined
  let least = Math.ceil(word.length / 3) + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) >= least) continue
    const changes = changesBetween(word.toLowerCase(), candidate.toLowerCase())
    if (changes < least) {
      best = candidate
      least = changes
    }
  }
  return best
}

/** Two letters that changed places are one slip of the fingers. */
function changesBetween(a: string, b: string): number {
  const changes = distance(a, b)
  return changes === 2 && Array.from(a).sort().join('') === Array.from(b).sort().join('') ? 1 : changes
}
