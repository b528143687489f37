import { randomInt } from 'node:crypto'

// Letters, marks, numbers, punctuation, symbols and spaces: no control, format or line-breaking character.
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}]{1,64}$/u

/** Whether an account or endpoint may bear this name: 1 to 64 printable characters, not all of them spaces. */
export function isValidName(name: string): boolean {
  return PRINTABLE.test(name) && name.trim() !== ''
}

/** `<chain>-endpoint-<3 letters>`: the name of an endpoint whose owner gave none. */
export function generateName(chain: string): string {
  let letters = ''
  for (let i = 0; i < 3; i++) letters += String.fromCharCode(0x61 + randomInt(26))
  // A slug has no length limit, a name has.
  return `${chain.slice(0, 51)}-endpoint-${letters}`
}
