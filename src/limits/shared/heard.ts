/** Who takes from a bucket: whoever spoke of it lately. */

/** Milliseconds for which a process counts as taking from a bucket after it has spoken of it. */
export const ACTIVE = 2_000

/** When each process last spoke of it. */
export type Heard = Map<string, number>

/** Hears one, and says how many take from it now. */
export function countActive(heard: Heard, process: string, now: number): number {
  heard.set(process, now)
  for (const [name, at] of heard) if (now - at >= ACTIVE) heard.delete(name)
  return heard.size
}
