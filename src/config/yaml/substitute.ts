import { show } from '../words/show.ts'

/** What `${…}` is looked up in. */
export interface Lookup {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The text of a file, or why it cannot be read. */
  readonly readFile: (path: string) => { readonly text: string } | { readonly failure: string }
}

/** The text with every `${…}` replaced, or what is wrong with one of them. */
export type Substitution =
  { readonly text: string } | { readonly message: string; readonly hint?: string | undefined }

const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s
/** Levels of `${…}` within the default of another. */
const DEEPEST = 16
const FORMS = 'write ${NAME}, ${NAME:-default} or ${file:/path}, and $${ for a plain ${'

/** Replaces `${NAME}`, `${NAME:-default}` and `${file:/path}`; `$${` stands for `${` itself. */
export function substitute(text: string, lookup: Lookup, depth = 0): Substitution {
  if (depth > DEEPEST)
    return { message: 'the defaults of "${…}" nest too deeply', hint: `at most ${DEEPEST} levels` }
  let done = ''
  let from = 0
  for (;;) {
    const open = text.indexOf('${', from)
    if (open < 0) return { text: done + text.slice(from) }
    if (open > from && text[open - 1] === '$') {
      done += `${text.slice(from, open - 1)}\${`
      from = open + 2
      continue
    }
    const close = closingBrace(text, open + 2)
    if (close < 0) return { message: '"${" without its "}"', hint: FORMS }
    const value = resolve(text.slice(open + 2, close), lookup, depth)
    if (!('text' in value)) return value
    done += text.slice(from, open) + value.text
    from = close + 1
  }
}

/** Braces nest, so that a default may hold `{subdomain}` or another `${…}`. */
function closingBrace(text: string, start: number): number {
  let depth = 1
  for (let at = start; at < text.length; at++) {
    if (text[at] === '{') depth++
    else if (text[at] === '}' && --depth === 0) return at
  }
  return -1
}

function resolve(reference: string, lookup: Lookup, depth: number): Substitution {
  if (reference.startsWith('file:')) return fileText(reference.slice('file:'.length), lookup)
  const [, name, fallback] = VARIABLE.exec(reference) ?? []
  if (name === undefined) return { message: `${show(`\${${reference}}`)} is not a substitution`, hint: FORMS }
  const value = lookup.env[name]
  // As in a shell, `:-` also stands in for a variable that is set and empty.
  if (fallback !== undefined && (value === undefined || value === ''))
    return substitute(fallback, lookup, depth + 1)
  if (value !== undefined) return { text: value }
  return { message: lacksVariable(name), hint: `set it, or write \${${name}:-default}` }
}

/** The message of a variable that is not set. */
export function lacksVariable(name: string): string {
  return `the environment has no ${name}`
}

function fileText(path: string, lookup: Lookup): Substitution {
  const read = lookup.readFile(path)
  if ('failure' in read) return { message: `cannot read the file ${path}: ${read.failure}` }
  // Editors and secret stores end a file with a newline that is not part of the secret.
  return { text: read.text.replace(/(?<![\r\n])[\r\n]+$/, '') }
}

/** The `${NAME}` and `${NAME:-default}` of a text, each with its name. */
export function referencesIn(text: string): { readonly name: string; readonly reference: string }[] {
  return [...text.matchAll(VARIABLES)].map(({ 1: name = '', index }) => {
    const close = closingBrace(text, index + 2)
    return { name, reference: close < 0 ? '' : text.slice(index, close + 1) }
  })
}

const VARIABLES = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?=\}|:-)/g

/** Names of the variables that a text asks the environment for. */
export function variablesIn(text: string): string[] {
  return [...text.matchAll(VARIABLES)].map(([, name]) => name!)
}
