import { readFileSync, readdirSync } from 'node:fs'
import { parse } from 'yaml'
import type { ErrorRow, Family, NodeErrorClass } from '../../../src/snapshot/types.ts'
import type { JudgedCall } from '../../../src/families/errors/classify.ts'
import type { NodeError } from '../../../src/families/errors/outcome.ts'

/** What the next caller meets after one call drew an error of a class in HTTP 200: another account is always served. */
export type Effect =
  /** The route is used as before. */
  | 'as_before'
  /** The route's height is probed. */
  | 'probed'
  /** That method goes elsewhere for ten minutes, for the caller who drew it. */
  | 'learned'
  /** The route is paused for the caller who drew it. */
  | 'paused_for_the_caller'
  /** A fault of the route is counted for the caller who drew it. */
  | 'fault_of_the_caller'

/** What follows from each class. */
export const EFFECTS: Readonly<Record<NodeErrorClass, Effect>> = {
  answer: 'as_before',
  missing: 'as_before',
  too_wide: 'as_before',
  unsupported: 'learned',
  behind: 'probed',
  limited: 'paused_for_the_caller',
  billing: 'paused_for_the_caller',
  unavailable: 'fault_of_the_caller',
  internal: 'fault_of_the_caller',
}

/** An error in, a class and its effect out. */
export interface Case {
  readonly name: string
  readonly error: NodeError
  readonly call: JudgedCall
  readonly class: NodeErrorClass
  readonly next: Effect
}

/** A case as it is written: a list of families or codes is a case for each. */
interface WrittenCase {
  readonly family: Family | readonly Family[]
  readonly method?: string
  readonly params?: unknown
  readonly range?: boolean
  readonly code: number | readonly number[]
  readonly message: string
  readonly data?: unknown
  readonly class: NodeErrorClass
  readonly next: Effect
}

const USUAL: Readonly<Record<Family, { readonly method: string; readonly params: unknown }>> = {
  evm: { method: 'eth_call', params: [{ to: '0x00000000000000000000000000000000000000aa' }, 'latest'] },
  solana: { method: 'getBlock', params: [1200, { commitment: 'confirmed' }] },
  http: { method: 'GET /eth/v1/node/syncing', params: [] },
  jsonrpc: { method: 'getblock', params: ['00', 1] },
}

/** The usual call of a family, or one with other parts. */
export function callOf(family: Family, more: Partial<JudgedCall> = {}): JudgedCall {
  const { method, params } = USUAL[family]
  return { family, method, params: rawOf(params), isRange: false, rows: [], ...more }
}

/** An error object as a node sends it. */
export function errorOf(code: number, message: string, data?: unknown): NodeError {
  return { code, message, error: rawOf({ code, message, ...(data === undefined ? {} : { data }) }) }
}

/** JSON bytes as latin1, a character each. */
export function rawOf(value: unknown): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('latin1')
}

/** An operator's row, whatever is left out as null. */
export function rowOf(row: Partial<ErrorRow> & Pick<ErrorRow, 'class'>): ErrorRow {
  return { codes: null, text: null, methods: null, family: null, ...row }
}

function* casesOf(file: string, written: readonly WrittenCase[]): Generator<Case> {
  for (const one of written)
    for (const family of [one.family].flat())
      for (const code of [one.code].flat()) {
        const call = callOf(family, {
          ...(one.method === undefined ? {} : { method: one.method }),
          ...(one.params === undefined ? {} : { params: rawOf(one.params) }),
          isRange: one.range ?? false,
        })
        const name = `${file}: ${family} ${call.method} ${code} ${JSON.stringify(one.message.slice(0, 80))}`
        yield { name, error: errorOf(code, one.message, one.data), call, class: one.class, next: one.next }
      }
}

const folder = new URL('cases/', import.meta.url)

/** Every case of the folder `cases`. */
export const CASES: readonly Case[] = readdirSync(folder)
  .sort()
  .flatMap(file => [
    ...casesOf(file, parse(readFileSync(new URL(file, folder), 'utf8')) as readonly WrittenCase[]),
  ])
