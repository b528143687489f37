import type { ErrorObject } from 'ajv'
import { retype } from '../yaml/retype.ts'
import type { Annotations } from './schemas.ts'
import { listed, show } from '../words/show.ts'
import { nearest } from '../words/suggest.ts'

/** What to say about a problem. */
export interface Sentence {
  readonly message: string
  readonly hint?: string | undefined
}

/** Says in a person's words what a JSON Schema keyword has against a value. */
export function sentenceFor(error: ErrorObject): Sentence {
  const schema = error.parentSchema as Annotations
  const params = error.params as Readonly<Record<string, number>>
  const value = schema.writeOnly === true && typeof error.data !== 'object' ? 'the value' : show(error.data)
  if (error.data === null)
    return {
      message: 'value is missing',
      hint: schema.pattern?.startsWith('^#') === true ? 'quote it: # begins a comment' : undefined,
    }
  switch (error.keyword) {
    case 'type':
      return typeSentence(schema, value, error.data)
    case 'pattern':
      return patternSentence(schema, value)
    case 'enum':
      return enumSentence(schema, value, error.data)
    case 'minimum':
      return { message: `must be at least ${params['limit']}, not ${value}` }
    case 'exclusiveMinimum':
      return { message: `must be above ${params['limit']}, not ${value}` }
    case 'maximum':
      return { message: `must be at most ${params['limit']}, not ${value}` }
    case 'minLength':
      return { message: 'the text is empty' }
    case 'maxLength':
      return { message: 'the text is too long', hint: `at most ${params['limit']} characters` }
    case 'minItems':
    case 'maxItems':
      return { message: lengthSentence(error, params['limit'] ?? 0) }
    case 'uniqueItems':
      return { message: `${show((error.data as unknown[])[params['j']!])} is a duplicate` }
    default:
      return { message: error.message ?? 'this is not allowed here' }
  }
}

function lengthSentence({ keyword, data }: ErrorObject, limit: number): string {
  const count = (data as readonly unknown[]).length
  const items = count === 1 ? '1 item' : `${count} items`
  return count === 0
    ? 'the list is empty'
    : `this list has ${items}; it must have ${keyword === 'minItems' ? 'at least' : 'at most'} ${limit}`
}

const NOUNS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of keys',
}

function typeSentence(schema: Annotations, value: string, data: unknown): Sentence {
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? [])
  if (typeof data === 'number' || typeof data === 'boolean') {
    const pattern = new RegExp(schema.pattern ?? '', 'u')
    const kind = typeof data === 'number' ? 'a number' : 'a boolean'
    if (types.includes('string') && pattern.test(String(data)))
      return { message: `${value} is ${kind}, not text`, hint: 'quote it' }
  }
  if (typeof data !== 'object' && schema.patternErrorMessage !== undefined)
    return patternSentence(schema, value)
  const message = `${value} is not ${types.map(type => NOUNS[type] ?? type).join(' or ')}`
  return { message, hint: looksTyped(data, types) ? 'remove the quotes' : undefined }
}

/** Whether a text would be of the right type without its quotes. */
function looksTyped(data: unknown, types: readonly string[]): boolean {
  if (typeof data !== 'string') return false
  const type = typeof retype(data)
  return types.some(wanted => wanted === type || (wanted === 'integer' && type === 'number'))
}

function patternSentence(schema: Annotations, value: string): Sentence {
  const [wrong, ...hint] = (schema.patternErrorMessage ?? 'is not allowed here').split('; ')
  return { message: `${value} ${wrong ?? ''}`, hint: hint.length === 0 ? undefined : hint.join('; ') }
}

function enumSentence(schema: Annotations, value: string, data: unknown): Sentence {
  const words = [...new Set((schema.enum ?? []).map(String))]
  const match = typeof data === 'string' ? nearest(data, words) : undefined
  const hint = match === undefined ? `expected ${listed(words, 'or')}` : `did you mean "${match}"?`
  return { message: `unknown ${(schema.title ?? 'value').toLowerCase()} ${value}`, hint }
}
