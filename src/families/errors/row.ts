/** Writing rows of the shipped tables: most differ in nothing but their text. */
import type { ErrorRow, NodeErrorClass } from '../../snapshot/types.ts'

/** Codes of an invalid call: answers, unless a row names the code or its class is in EVERY_CODE. */
export const INVALID_CALL: readonly number[] = [-32600, -32602]

/** Classes whose texts apply under every code: geth, reth and Nethermind report them under -32602. */
export const EVERY_CODE: ReadonlySet<NodeErrorClass> = new Set(['behind', 'too_wide'])

/** What a group of rows has in common; whatever is left out is null. */
type Common = Partial<Pick<ErrorRow, 'codes' | 'methods'>>

/** A row for each text. */
export function textRows(
  means: NodeErrorClass,
  texts: readonly string[],
  { codes = null, methods = null }: Common = {},
): ErrorRow[] {
  return texts.map(text => Object.freeze({ codes, text, methods, family: null, class: means }))
}

/** Rows that count under INVALID_CALL too, which some nodes and providers use for all that they refuse. */
export function everyCodeRows(means: NodeErrorClass, texts: readonly string[]): ErrorRow[] {
  return [...textRows(means, texts), ...textRows(means, texts, { codes: INVALID_CALL })]
}

/** A row for codes whose message does not matter. */
export function codeRow(means: NodeErrorClass, codes: readonly number[]): ErrorRow {
  return Object.freeze({ codes, text: null, methods: null, family: null, class: means })
}
