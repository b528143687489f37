import type { FileName } from './files.ts'
import type { Kind } from './kinds.ts'
import type { Path } from './yaml/path.ts'

/** A problem whose place has not been looked up yet. */
export interface Finding {
  readonly file: FileName
  readonly path: Path
  /** What to point at: the key of `path`, its value, or an offset in the text. */
  readonly at: 'key' | 'value' | number
  readonly message: string
  readonly hint?: string | undefined
  /** A warning does not keep the configuration from being served; default: an error. */
  readonly severity?: 'error' | 'warning'
  /** Of a warning: what `acknowledge` in gateway.yaml silences it by. */
  readonly kind?: Kind
  /** Whether the value of `path` says nothing that other files could be checked against. */
  readonly spoils?: boolean
}
