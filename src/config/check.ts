import type { Evaluated } from './yaml/evaluate.ts'
import type { Extended } from './extend.ts'
import { FILES } from './files.ts'
import type { FileName } from './files.ts'
import { link } from './link/link.ts'
import type { Finding } from './finding.ts'
import { dropInvalid } from './schema/drop-invalid.ts'
import { emptyRecord } from './record.ts'
import { checkShape } from './schema/shape.ts'
import type { Partly, RawConfig } from './raw-config.ts'

/** What the files say, wrong values taken out, and all their findings. */
export interface Checked {
  readonly written: Partly<RawConfig>
  readonly findings: readonly Finding[]
}

/** Checks each file alone, then what is right in them against each other. `extended` is methods.yaml with what it extends. */
export function check(files: ReadonlyMap<string, Evaluated>, extended: Extended | null): Checked {
  const findings: Finding[] = []
  const written = emptyRecord<unknown>()
  for (const file of FILES) {
    const evaluated = files.get(file)
    if (evaluated === undefined) continue
    const { value, findings: own } =
      file === 'methods.yaml' && extended !== null ? extended : checkAlone(file, evaluated)
    findings.push(...own)
    if (isMap(value)) written[file.replace('.yaml', '')] = value
  }
  // The schemas have just made it so.
  const checked = written as Partly<RawConfig>
  return { written: checked, findings: findings.concat(link(checked)) }
}

function checkAlone(
  file: FileName,
  { value, findings, emptied }: Evaluated,
): { readonly value: unknown; readonly findings: readonly Finding[] } {
  const own = [...findings, ...checkShape(file, value, emptied)]
  dropInvalid(value, own)
  return { value, findings: own }
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
