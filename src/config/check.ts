import type { Evaluated } from './yaml/evaluate.ts'
import type { Extended } from './extend.ts'
import { FILES } from './files.ts'
import type { FileName } from './files.ts'
import { link } from './link/link.ts'
import type { Mistake } from './mistake.ts'
import { prune } from './prune.ts'
import { emptyRecord } from './record.ts'
import { checkShape } from './schema/shape.ts'
import type { Partly, Written } from './written.ts'

/** What the files say, wrong values taken out, and all their mistakes. */
export interface Checked {
  readonly written: Partly<Written>
  readonly mistakes: readonly Mistake[]
}

/** Checks each file alone, then what is right in them against each other. `extended` is methods.yaml with what it extends. */
export function check(files: ReadonlyMap<string, Evaluated>, extended: Extended | null): Checked {
  const mistakes: Mistake[] = []
  const written = emptyRecord<unknown>()
  for (const file of FILES) {
    const evaluated = files.get(file)
    if (evaluated === undefined) continue
    const { value, mistakes: own } =
      file === 'methods.yaml' && extended !== null ? extended : checkAlone(file, evaluated)
    mistakes.push(...own)
    if (isMap(value)) written[file.replace('.yaml', '')] = value
  }
  // The schemas have just made it so.
  const checked = written as Partly<Written>
  return { written: checked, mistakes: mistakes.concat(link(checked)) }
}

function checkAlone(
  file: FileName,
  { value, mistakes, emptied }: Evaluated,
): { readonly value: unknown; readonly mistakes: readonly Mistake[] } {
  const own = [...mistakes, ...checkShape(file, value, emptied)]
  prune(value, own)
  return { value, mistakes: own }
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
