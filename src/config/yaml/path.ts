/** Where in a document: keys and list indexes, from the root. */
export type Path = readonly (string | number)[]

const PLAIN_KEY = /^[A-Za-z0-9_*-]+$/

/** The path as people write it, such as `routes[0].capabilities[1]` or `families.http["GET /eth/v1/node/*"]`. */
export function formatPath(path: Path): string {
  return path.map(formatStep).join('').replace(/^\./, '')
}

function formatStep(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`
  return PLAIN_KEY.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`
}

/** The path of a JSON pointer in `value`, whose lists tell which steps are indexes (RFC 6901). */
export function pathOfPointer(pointer: string, value: unknown): (string | number)[] {
  const path: (string | number)[] = []
  let at = value
  for (const escaped of pointer.split('/').slice(1)) {
    const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
    const step = Array.isArray(at) ? Number(name) : name
    path.push(step)
    at = (at as Record<string | number, unknown>)[step]
  }
  return path
}
