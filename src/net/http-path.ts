/**
 * The one form in which paths of verbatim HTTP networks are matched and sent on. What a node could read in another way
 * (percent escapes, dot segments, empty ones, `;` parameters, backslashes) is not rewritten but has no such form.
 */

/** Segments hold unreserved characters of RFC 3986 and the delimiters that mean nothing to a server within one; none is only dots. */
const NORMAL = /^(?:\/(?!\.+(?:\/|$))[A-Za-z0-9._~:@,=+$!-]+)+$/
/** The same with `{name}` for a segment and a `*` at the end. */
const RULE =
  /^(?:\/(?:(?!\.+(?:\/|$))[A-Za-z0-9._~:@,=+$!-]+|\{[A-Za-z_]+\}))*(?:\/[A-Za-z0-9._~:@,=+$!-]*\*)?$/

/** Longest path and query in characters. */
export const MAX_PATH = 2048
export const MAX_QUERY = 8192

/** The verbs that a rule may name. */
export const VERBS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

/** A path or URL without the slashes at its end. */
export function trimSlashes(path: string): string {
  let end = path.length
  while (path.charCodeAt(end - 1) === 47) end -= 1
  return path.slice(0, end)
}

/** Whether a path is in the normal form. */
export function isNormalPath(path: string): boolean {
  return path.length <= MAX_PATH && NORMAL.test(path)
}

/** Whether a rule's path can meet a path in the normal form; `{name}` is one segment, a `*` ends a prefix. */
export function isRulePath(path: string): boolean {
  return path.length > 1 && RULE.test(path)
}

/** Whether a query (without its `?`) may be passed on as it is: printable ASCII of bounded length, no fragment. */
export function isPlainQuery(query: string): boolean {
  return query.length <= MAX_QUERY && /^[!"$-~]*$/.test(query)
}

/** Whether a rule's name with `{name}` segments covers a verb and path. */
export function pathCovers(written: string, method: string): boolean {
  const isOpen = written.endsWith('*')
  const wanted = (isOpen ? written.slice(0, -1) : written).split('/')
  const given = method.split('/')
  if (isOpen ? given.length < wanted.length : given.length !== wanted.length) return false
  const last = wanted.length - 1
  return wanted.every((part, at) => {
    if (part.startsWith('{')) return given[at] !== ''
    return isOpen && at === last ? given[at]?.startsWith(part) : part === given[at]
  })
}
