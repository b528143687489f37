import { randomInt } from 'node:crypto'
import { isPrintable } from '../../../config/words/printable.ts'

/** Characters of a name at most. */
const LONGEST = 64

/** Whether an account or endpoint may bear this name: 1 to 64 printable characters, not all of them spaces. */
export function isValidName(name: string): boolean {
  return isPrintable(name, LONGEST) && name.trim() !== ''
}

/** `<chain>-endpoint-<3 letters>`: the name of an endpoint whose owner gave none. */
export function generateName(chain: string): string {
  let letters = ''
  for (let i = 0; i < 3; i++) letters += String.fromCharCode(0x61 + randomInt(26))
  // A slug has no length limit, a name has.
  return `${chain.slice(0, 51)}-endpoint-${letters}`
}
