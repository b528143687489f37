import { Lexer, LineCounter, parseDocument, Parser, visit } from 'yaml'
import type { Document, ParsedNode, YAMLError } from 'yaml'
import type { FileName } from '../files.ts'
import type { Problem } from '../problem.ts'

/** A file as YAML nodes, before anything is replaced or resolved. */
export interface Source {
  readonly file: FileName
  readonly root: ParsedNode | null
  readonly lines: LineCounter
}

/** Parses one file (YAML 1.2, core schema), or says where its syntax breaks. */
export function parseText(file: FileName, text: string): Source | Problem {
  const lines = new LineCounter()
  // Duplicate keys are found later, where their path is known and the rest of the file can still be checked.
  const options = {
    lineCounter: lines,
    uniqueKeys: false,
    stringKeys: true,
    prettyErrors: false,
    strict: true,
  }
  let document: Document.Parsed
  try {
    document = parseDocument(text, options)
  } catch (error) {
    // The library parses blocks by recursion.
    if (!(error instanceof RangeError)) throw error
    return { file, ...placeOfDepth(text), path: '', severity: 'error', message: TOO_DEEP }
  }
  // One broken line makes the parser stumble over the next ones: only the first error is worth reading.
  const error = document.errors[0] ?? document.warnings[0]
  if (error === undefined) return { file, root: document.contents, lines }
  const at = beginOfQuote(error, document.contents) ?? error.pos[0]
  return { file, ...placeOf(lines, at), path: '', severity: 'error', ...explain(error, text) }
}

/** Levels of lists and maps: what reads values recurs with each. */
export const DEEPEST = 64

/** What is said of a file whose values nest more deeply than can be read. */
export const TOO_DEEP = 'lists and maps nest too deeply here'

/** Line and column, both counted from 1, of an offset. */
export function placeOf(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}

/** Where a text nests too deeply. */
function placeOfDepth(text: string): { line: number; column: number } {
  const lines = new LineCounter()
  lines.addNewLine(0)
  const parser = new Parser(lines.addNewLine)
  for (const lexeme of new Lexer().lex(text)) {
    Array.from(parser.next(lexeme))
    if (parser.stack.length > DEEPEST) break
  }
  return placeOf(lines, parser.offset)
}

/** Where the quote begins that does not end: the parser tells only where the file does. */
function beginOfQuote({ code, message }: YAMLError, root: ParsedNode | null): number | null {
  if (code !== 'MISSING_CHAR' || !message.includes('quote')) return null
  let begin: number | null = null
  visit(root, {
    Scalar: (_, { type, range }) => {
      if (type?.startsWith('QUOTE') === true) begin = range?.[0] ?? begin
    },
  })
  return begin
}

function explain(error: YAMLError, text: string): { message: string; hint?: string } {
  const [start] = error.pos
  if (text.slice(start - 1, start + 1) === '${')
    return {
      message: 'a bare "${…}" cannot stand inside [ ] or { }',
      hint: 'quote it, or use lines of their own',
    }
  if (error.code === 'MISSING_CHAR' && error.message.includes('quote'))
    return { message: 'a quote begins here and does not end' }
  return SENTENCES[error.code] ?? { message: `this is not valid YAML: ${error.message}` }
}

// The parser's own words, where they would quote the file (which may hold secrets) or not help.
const SENTENCES: Readonly<Record<string, { message: string; hint?: string }>> = {
  MULTIPLE_DOCS: { message: 'a second document begins here', hint: 'a file holds one; remove the "---"' },
  NON_STRING_KEY: { message: 'a key must be text, not a list, a map or an alias' },
  TAG_RESOLVE_FAILED: { message: 'this tag is not known here', hint: 'quote text that begins with "!"' },
  RESOURCE_EXHAUSTION: { message: TOO_DEEP },
  TAB_AS_INDENT: { message: 'a tab cannot indent', hint: 'use spaces' },
  BAD_INDENT: { message: 'a [ or { before this does not end, or it is not indented like its neighbours' },
  UNEXPECTED_TOKEN: {
    message: 'nothing of this kind can stand here',
    hint: 'a comma, a bracket or a quote may be missing before it',
  },
  MULTILINE_IMPLICIT_KEY: { message: 'a key must end with ":" on its line' },
  MISSING_CHAR: { message: 'a key without ":", or text that does not end' },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'a second ": " in one line, or a line indented too far',
    hint: 'quote text that holds ": "',
  },
}
