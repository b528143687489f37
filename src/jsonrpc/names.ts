/** Member names as different JSON parsers read them. */
import { decodeJson } from './raw.ts'
import type { Raw } from './raw.ts'

/** The name that a quoted JSON string spells; escapes are decoded, and non-ASCII only then. */
export function nameOf(quoted: Raw): string {
  for (let i = 1; i < quoted.length - 1; i += 1) {
    const c = quoted.charCodeAt(i)
    if (c === 92 || c > 127) return decodeJson(quoted) as string
  }
  return quoted.slice(1, -1)
}

/** How a name reads: as the wanted one, as one that a lenient parser could take for it, or as something else. */
export type NameMatch = 'same' | 'variant' | 'other'

/**
 * Compares the name in the valid JSON string that opens at `at` with `wanted` (ASCII), without building it: a message can
 * hold a million names. A variant differs in case or folding only: Go's encoding/json matches member names so (U+017F for
 * s, U+212A for k), Java's equalsIgnoreCase takes U+0130 and U+0131 for i.
 */
export function matchName(raw: Raw, at: number, wanted: string): NameMatch {
  // Nearly every name is plain, and told by its first character.
  const first = raw.charCodeAt(at + 1)
  if (first < 128 && first !== 92 && (first | 32) !== (wanted.charCodeAt(0) | 32)) return 'other'
  let i = at + 1
  let same = true
  for (let k = 0; k < wanted.length; k += 1) {
    const w = wanted.charCodeAt(k)
    let c = raw.charCodeAt(i)
    if (c === 34) return 'other'
    if (c === 92) {
      const isHex = raw.charCodeAt(i + 1) === 117
      c = isHex ? parseInt(raw.slice(i + 2, i + 6), 16) : unescaped(raw.charCodeAt(i + 1))
      i += isHex ? 6 : 2
    } else if (c > 127) {
      const length = c < 0xe0 ? 2 : 3
      c = folding(raw, i, length)
      i += length
    } else i += 1
    if (c !== w) {
      if (fold(c) !== fold(w)) return 'other'
      same = false
    }
  }
  if (raw.charCodeAt(i) !== 34) return 'other'
  return same ? 'same' : 'variant'
}

/** The character of a two-character escape. */
function unescaped(c: number): number {
  const at = 'bfnrt'.indexOf(String.fromCharCode(c))
  return at < 0 ? c : '\b\f\n\r\t'.charCodeAt(at)
}

/** The few characters beyond ASCII that fold into it, as their code points; -1 for any other. */
function folding(raw: Raw, at: number, length: number): number {
  const bytes = raw.slice(at, at + length)
  if (bytes === '\u00c5\u00bf') return 0x17f
  if (bytes === '\u00c4\u00b0') return 0x130
  if (bytes === '\u00c4\u00b1') return 0x131
  return bytes === '\u00e2\u0084\u00aa' ? 0x212a : -1
}

function fold(c: number): number {
  if (c >= 65 && c <= 90) return c + 32
  if (c === 0x17f) return 115
  if (c === 0x212a) return 107
  return c === 0x130 || c === 0x131 ? 105 : c
}
