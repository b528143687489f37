/** Headers as undici reads them: name, value, name, value. */

/** The first value of a header, by its name in lower case; null where it is not there. */
export function headerOf(headers: readonly Buffer[], name: string): string | null {
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [found, value] = [headers[i]!, headers[i + 1]!]
    if (found.length === name.length && found.toString('latin1').toLowerCase() === name)
      return value.toString('latin1')
  }
  return null
}
