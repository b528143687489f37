/** Texts reduced to their letters and digits: what is left of an echo however a node escapes, wraps or cuts it. */

/** Escapes of JSON and C (also escaped once more), of URLs and of HTML, in lower case. */
const ESCAPE =
  /(?<!\\)\\+(?:u\{?([0-9a-f]{4})\}?|x([0-9a-f]{2})|[abfnrtv0])|%([0-9a-f]{2})|&#x([0-9a-f]{1,6});|&#([0-9]{1,7});|&[a-z]{2,6};/g

/** The ASCII letters and digits of a text in lower case, escapes decoded. */
export function lettersOf(text: string): string {
  const lower = text.toLowerCase()
  const decoded = /[\\%&]/.test(lower) ? lower.replace(ESCAPE, decode).toLowerCase() : lower
  return decoded.replace(/[^a-z0-9]+/g, '')
}

function decode(_: string, u?: string, x?: string, url?: string, html?: string, decimal?: string): string {
  const hex = u ?? x ?? url ?? html
  const code = hex === undefined ? Number(decimal) : parseInt(hex, 16)
  return code <= 0x10ffff ? String.fromCodePoint(code) : ''
}

/** The characters that a run of hex digits spells, a byte each; null where the text is no such run. */
export function spelledByHex(text: string): string | null {
  if (text.length < 6 || !/^(?:0x)?(?:[0-9a-f]{2})+$/i.test(text)) return null
  return Buffer.from(text.replace(/^0x/i, ''), 'hex').toString('latin1')
}
