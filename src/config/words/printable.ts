/** Which text may be stored, and how text is shown that was not checked: from nodes, logs, and databases of other programs. */

/**
 * Letters, marks, numbers, punctuation, symbols and spaces: no control (Cc), format (Cf: bidirectional overrides, zero-width characters) or
 * line-breaking character (Zl, Zp), and no half of a surrogate pair (Cs).
 */
export const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}]*$/u

/** Whether a text may be stored: printable, and at most `most` characters (code points, as JSON Schema counts them). */
export function isPrintable(text: string, most: number): boolean {
  return text.length <= 2 * most && PRINTABLE.test(text) && Array.from(text).length <= most
}

const PLAIN = /^[\n\x20-\x7e]*$/
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** The text with what a terminal would act on, or a reader would not see, as JSON escapes: JSON stays the same value. Lines stay lines. */
export function escapeText(text: string): string {
  return PLAIN.test(text) ? text : text.replace(UNPRINTABLE, one => (one === '\n' ? one : escaped(one)))
}

/** The same of one line: a value in it does not begin another. */
export function escapeLine(text: string): string {
  return escapeText(text).replaceAll('\n', '\\n')
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, i) => {
    const unit = character.charCodeAt(i)
    return `\\u${unit.toString(16).padStart(4, '0')}`
  }).join('')
}
