/** Cursors of lists: where a page ended, in a form that nobody is tempted to take apart. */

/** The lists that have pages. */
type List = 'accounts' | 'audit'

/** The cursor behind an item. */
export function makeCursor(list: List, after: string): string {
  return Buffer.from(`${list} ${after}`).toString('base64url')
}

/** The item that the page before ended with; undefined when the cursor is not one of this list. */
export function readCursor(cursor: string, list: List): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString()
  const after = text.slice(list.length + 1)
  return text.startsWith(`${list} `) && makeCursor(list, after) === cursor ? after : undefined
}
