import { invalidMembers, invalidParams } from './errors.ts'
import type { ServiceError } from './types.ts'

/** What a member must be: its value, perhaps in normal form, or what is wrong with it ("must be …"). */
export type Check<T> = (value: unknown) => { readonly value: T } | { readonly wrong: string }

type Checks = Readonly<Record<string, Check<unknown>>>
type Value<C> = C extends Check<infer T> ? T : never
type Values<R extends Checks, O extends Checks> = { readonly [K in keyof R]: Value<R[K]> } & {
  readonly [K in keyof O]?: Value<O[K]>
}

/** The members of a call's one parameter object, checked; all mistakes otherwise. `what` is what a member is called. */
export function readParams<R extends Checks, O extends Checks>(
  params: unknown,
  required: R,
  optional: O,
  what = 'parameter',
): { readonly values: Values<R, O> } | { readonly error: ServiceError } {
  const given = members(params)
  if (given === null) return invalidParams('params must hold one object or be empty')

  const checks = new Map([...Object.entries(required), ...Object.entries(optional)])
  const values = new Map<string, unknown>()
  const mistakes: [member: string, why: string][] = []
  for (const [name, value] of given) {
    const check = checks.get(name)
    const checked = check?.(value)
    if (checked === undefined) mistakes.push([shortened(name), `unknown ${what} ${quote(name)}`])
    else if ('wrong' in checked) mistakes.push([name, `${name} ${checked.wrong}`])
    else values.set(name, checked.value)
  }

  // An unknown member may be a required one that is misspelled.
  const isMisspelled = given.some(([name]) => !checks.has(name))
  const missing = Object.keys(required).filter(
    name => !isMisspelled && !given.some(([member]) => member === name),
  )
  mistakes.push(...missing.map(name => [name, `${name} is required`] as [string, string]))
  if (mistakes.length > 0) return invalidMembers(mistakes)
  return { values: Object.fromEntries(values) as Values<R, O> }
}

/** Accepts `[{…}]`, `{…}`, `[]` and nothing. Own members only, so that "__proto__" is a name like any other. */
function members(params: unknown): [string, unknown][] | null {
  if (params === undefined || params === null) return []
  if (!Array.isArray(params)) return typeof params === 'object' ? Object.entries(params) : null
  if (params.length === 0) return []
  const [only] = params as unknown[]
  const isObject = typeof only === 'object' && only !== null && !Array.isArray(only)
  return params.length === 1 && isObject ? Object.entries(only) : null
}

function quote(name: string): string {
  return JSON.stringify(shortened(name))
}

function shortened(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name
}
