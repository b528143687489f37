/** Does the same for each of several things, a few at a time. */
export async function sideBySide<T>(
  things: readonly T[],
  work: (thing: T) => Promise<void>,
  lanes = 3,
): Promise<void> {
  const left = things.values()
  const lane = async () => {
    for (const thing of left) await work(thing)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
