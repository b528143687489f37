import type { Finding } from '../finding.ts'
import type { Path } from '../yaml/path.ts'

/** What says where a request ends and what its connection is for: only who writes the request knows. */
const FRAMING: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Who sends the headers, and which further ones it writes itself, in lower case. */
export interface Writer {
  readonly called: string
  readonly owns: readonly string[]
}

/** Headers of the operator's that would not be sent, or would break the request they are sent with. */
export function checkHeaders(
  headers: Readonly<Record<string, unknown>> | undefined,
  { file, path }: Pick<Finding, 'file'> & { readonly path: Path },
  { called, owns }: Writer,
): Finding[] {
  return Object.keys(headers ?? {}).flatMap((written): Finding[] => {
    const name = written.toLowerCase()
    if (!FRAMING.has(name) && !owns.includes(name)) return []
    const message = `${called} writes this header itself`
    return [{ file, path: [...path, written], at: 'key', message, hint: 'remove it' }]
  })
}
