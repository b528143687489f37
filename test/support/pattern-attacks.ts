/** Texts that are hard on a regular expression, made from its parts, and how its time grows with their length. */

/** A pattern as far as attacks depend on it. */
type Part =
  | { readonly kind: 'character'; readonly source: string }
  /** Assertions, which take no character. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'sequence'; readonly parts: readonly Part[] }
  | { readonly kind: 'choice'; readonly options: readonly Part[] }
  | { readonly kind: 'repeat'; readonly part: Part; readonly least: number; readonly most: number }

const TOKEN =
  /\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|p\{\w+\}|[^])|\[(?:\\[^]|[^\]\\])*\]|\((?:\?(?:<?[=!]|:))?|\{\d+(?:,\d*)?\}|[^]/giy

/** Parses what patterns of this project are written with; throws where one has more. */
function parse(source: string): Part {
  const tokens = source.match(TOKEN) ?? []
  if (tokens.join('') !== source) throw new Error(`not understood: ${source}`)
  let at = 0
  const choice = (): Part => {
    const options = [sequence()]
    while (tokens[at] === '|') {
      at += 1
      options.push(sequence())
    }
    return options.length === 1 ? options[0]! : { kind: 'choice', options }
  }
  const sequence = (): Part => {
    const parts: Part[] = []
    while (at < tokens.length && tokens[at] !== '|' && tokens[at] !== ')') parts.push(repeated(single()))
    return { kind: 'sequence', parts }
  }
  const single = (): Part => {
    const token = tokens[at]!
    at += 1
    if (token.startsWith('(')) {
      const part = choice()
      at += 1
      return token.endsWith('=') || token.endsWith('!') ? { kind: 'nothing' } : part
    }
    if (token === '^' || token === '$' || token === '\\b') return { kind: 'nothing' }
    if (/^\\[1-9kB]/.test(token)) throw new Error(`not understood: ${token} in ${source}`)
    return { kind: 'character', source: token }
  }
  const repeated = (part: Part): Part => {
    const [, least = '', comma = '', most = ''] = /^\{(\d+)(,?)(\d*)\}$/.exec(tokens[at] ?? '') ?? []
    const bounds: Record<string, readonly [number, number]> = {
      '*': [0, Infinity],
      '+': [1, Infinity],
      '?': [0, 1],
      ...(least === '' ? {} : { [tokens[at]!]: [Number(least), upTo(least, comma, most)] }),
    }
    const found = bounds[tokens[at] ?? '']
    if (found === undefined) return part
    at += 1
    if (tokens[at] === '?') at += 1
    return { kind: 'repeat', part, least: found[0], most: found[1] }
  }
  return choice()
}

function upTo(least: string, comma: string, most: string): number {
  if (comma === '') return Number(least)
  return most === '' ? Infinity : Number(most)
}

/** One character for each set of the pattern's characters that are alike to all of its classes. */
function alphabetOf(part: Part, flags: string): string[] {
  const classes = charactersOf(part).map(source => new RegExp(`^${source}$`, flags.replace(/[gy]/g, '')))
  const alike = new Map<string, string>()
  for (let code = 0; code < 256; code += 1) {
    const c = String.fromCharCode(code)
    const key = classes.map(each => Number(each.test(c))).join('')
    if (!alike.has(key)) alike.set(key, c)
  }
  return [...alike.values()]
}

function charactersOf(part: Part): string[] {
  switch (part.kind) {
    case 'character':
      return [part.source]
    case 'nothing':
      return []
    case 'sequence':
      return part.parts.flatMap(charactersOf)
    case 'choice':
      return part.options.flatMap(charactersOf)
    case 'repeat':
      return charactersOf(part.part)
  }
}

/** The shortest texts that a part matches: one for each of its options. */
function samplesOf(part: Part, pick: (source: string) => string): string[] {
  switch (part.kind) {
    case 'character':
      return [pick(part.source)]
    case 'nothing':
      return ['']
    case 'sequence':
      return part.parts.reduce<string[]>(
        (texts, next) => samplesOf(next, pick).flatMap(end => texts.slice(0, 4).map(text => text + end)),
        [''],
      )
    case 'choice':
      return part.options.flatMap(option => samplesOf(option, pick))
    case 'repeat':
      return part.least === 0 ? [''] : samplesOf(part.part, pick).map(text => text.repeat(part.least))
  }
}

/** The repetitions without a small bound, each behind the texts that lead to it. */
function* repetitionsIn(
  part: Part,
  before: readonly string[],
  pick: (source: string) => string,
): Generator<readonly [befores: readonly string[], repeated: Part]> {
  if (part.kind === 'repeat') {
    if (part.most - part.least > 256) yield [before, part.part]
    yield* repetitionsIn(part.part, before, pick)
  }
  if (part.kind === 'choice') for (const option of part.options) yield* repetitionsIn(option, before, pick)
  if (part.kind !== 'sequence') return
  let texts = before
  for (const next of part.parts) {
    yield* repetitionsIn(next, texts, pick)
    texts = samplesOf(next, pick).flatMap(end => texts.slice(0, 4).map(text => text + end))
  }
}

/** A text of any length: the same again and again, between a beginning and an end that does not match. */
export interface Attack {
  readonly before: string
  readonly again: string
  readonly after: string
}

/** The attacks on a pattern. */
export function attacksOn({ source, flags }: RegExp): Attack[] {
  const whole = parse(source)
  const alphabet = alphabetOf(whole, flags)
  const pick = (wanted: string): string => {
    const one = new RegExp(`^${wanted}$`, flags.replace(/[gy]/g, ''))
    return [...alphabet, '\u00e9', '\u2018', '\u03bc', '\u201c'].find(c => one.test(c)) ?? ''
  }
  const attacks = new Map<string, Attack>()
  for (const [befores, repeated] of repetitionsIn(whole, [''], pick)) {
    const samples = samplesOf(repeated, pick)
    // Each of them may be where a match begins.
    const begun = source.startsWith('^') ? [] : befores.flatMap(before => samples.map(each => before + each))
    const again = new Set([...alphabet, ...samples, ...begun])
    for (const before of new Set(['', ...befores]))
      for (const each of again)
        for (const after of ['', '\u0000', '\n', '!']) {
          if (each !== '') attacks.set(JSON.stringify([before, each, after]), { before, again: each, after })
        }
  }
  return [...attacks.values()]
}

/** The text of an attack, of so many characters or a few more. */
export function textOf({ before, again, after }: Attack, length: number): string {
  return before + again.repeat(Math.ceil(length / again.length)) + after
}

/** Characters of the texts whose times are compared, each four times as long as the one before. */
const LENGTHS = [4 * 1024, 16 * 1024, 64 * 1024]
/** Characters with which an exponential pattern takes long already. */
const FEW = 24
/** Milliseconds below which a time says nothing: a linear pattern takes a tenth of it for the longest text. */
const FLOOR = 4
/** Milliseconds for the shortest text from which on an attack is followed up: those of a linear pattern are a tenth. */
const SUSPECT = 0.2
/** Milliseconds after which a time is not measured again. */
const ENOUGH = 50
/** How many times as long a text of four times the length takes at most: 4 where the time is linear, 16 where it is quadratic. */
const MOST_GROWTH = 8

/** An attack in whose length the time of a pattern grows faster than linearly; null where there is none. */
export function worstAttack(pattern: RegExp): Attack | null {
  const attacks = attacksOn(pattern)
  const time = (attack: Attack, length: number): number => timeOf(pattern, textOf(attack, length))
  const slow = attacks.find(attack => time(attack, FEW) > FLOOR)
  if (slow !== undefined) return slow
  for (const attack of attacks) {
    let last = time(attack, LENGTHS[0]!)
    if (last < SUSPECT) continue
    for (const length of LENGTHS.slice(1)) {
      const next = time(attack, length)
      if (next > FLOOR && next > MOST_GROWTH * last) return attack
      last = next
    }
  }
  return null
}

/** Milliseconds that a pattern takes for a text: the least of a few runs, as the machine is shared. */
function timeOf(pattern: RegExp, text: string): number {
  let least = Infinity
  const until = performance.now() + ENOUGH
  for (let run = 0; run < 3 && least > SUSPECT / 10 && performance.now() < until; run += 1) {
    const begin = performance.now()
    if (pattern.global) text.replace(pattern, '')
    else pattern.test(text)
    least = Math.min(least, performance.now() - begin)
  }
  return least
}
