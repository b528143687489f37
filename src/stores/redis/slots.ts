/** Which keys may be in one message: in a cluster those that are in one slot, which the text in braces decides. */

/** The items by slot, in their order; all together where there is one server. */
export function bySlot<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  isCluster: boolean,
): readonly (readonly T[])[] {
  if (!isCluster) return items.length === 0 ? [] : [items]
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const tag = key.slice(key.indexOf('{'), key.indexOf('}'))
    const group = groups.get(tag)
    if (group === undefined) groups.set(tag, [item])
    else group.push(item)
  }
  return [...groups.values()]
}
