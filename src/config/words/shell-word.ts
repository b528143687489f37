/** A word of a command that somebody pastes into a shell; in quotes where the shell would read it otherwise. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
