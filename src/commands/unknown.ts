import { suggester } from '../config/words/suggest.ts'

/** Names that are listed where none is near what was written. */
const LISTED = 20

/** `there is no network "etherum"; did you mean "ethereum"?`, or which there are; `within` is the group of a command. */
export function unknown(what: string, word: string, known: readonly string[], within = ''): string {
  const written = within === '' ? word : `${within} ${word}`
  return `there is no ${what} "${written}"; ${suggester(known)(word) ?? listed(known)}`
}

/** Which names there are. */
export function listed(known: readonly string[]): string {
  const more = known.length > LISTED ? ' …' : ''
  if (known.length < 2) return known.length === 0 ? 'there is none' : `there is only ${known[0]!}`
  return `there are ${known.slice(0, LISTED).join(', ')}${more}`
}
