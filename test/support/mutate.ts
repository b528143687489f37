import type { Random } from './random.ts'

/** What bites parsers, to be put anywhere. */
const teeth: readonly string[] = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  ',',
  '"',
  '\\u0000',
  '\\ud800',
  '{',
  '}',
  '[',
  ']',
  '-0',
  '1e999',
  '99999999999999999999',
  '\xff\xfe',
  '\xc0\x80',
  '%00',
  '../',
  'Transfer-Encoding: chunked\r\n',
  'Content-Length: 3\r\n',
  'Expect: 100-continue\r\n',
  'Connection: Upgrade\r\nUpgrade: h2c\r\n',
  'Upgrade: websocket\r\n',
  '"method":"eth_chainId",',
  '"__proto__":{},',
  '[[[[[[[[[[[[[[[[',
]

/** Bytes (as latin1 text) with a few random changes: cut, doubled, turned over, or with something put in. */
export function mutate(random: Random, text: string): string {
  let mutant = text
  for (let left = 1 + random.below(4); left > 0; left--) {
    const at = random.below(mutant.length + 1)
    const length = random.below(12)
    const part = mutant.slice(at, at + length)
    const replacements = [
      '',
      part + part,
      random.pick(teeth),
      random.bytes(length).toString('latin1'),
      part.toUpperCase(),
      random.pick(teeth) + part,
    ]
    mutant = mutant.slice(0, at) + random.pick(replacements) + mutant.slice(at + length)
  }
  return mutant
}
