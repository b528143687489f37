import type { Evaluated } from './evaluate.ts'
import { FILES } from './files.ts'
import { link } from './link/link.ts'
import type { Mistake } from './mistake.ts'
import { prune } from './prune.ts'
import { emptyRecord } from './record.ts'
import { checkShape } from './shape.ts'
import type { Partly, Written } from './written.ts'

/** What the files say, wrong values taken out, and all their mistakes. */
export interface Checked {
  readonly written: Partly<Written>
  readonly mistakes: readonly Mistake[]
}

/** Checks each file alone, then what is right in them against each other. */
export function check(files: ReadonlyMap<string, Evaluated>): Checked {
  const mistakes: Mistake[] = []
  const written = emptyRecord<unknown>()
  for (const file of FILES) {
    const evaluated = files.get(file)
    if (evaluated === undefined) continue
    const own = [...evaluated.mistakes, ...checkShape(file, evaluated.value, evaluated.emptied)]
    prune(evaluated.value, own)
    mistakes.push(...own)
    if (isMap(evaluated.value)) written[file.replace('.yaml', '')] = evaluated.value
  }
  // The schemas have just made it so.
  const checked = written as Partly<Written>
  return { written: checked, mistakes: mistakes.concat(link(checked)) }
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
