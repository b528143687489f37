/** Labels: names with values, by which accounts are known to their operator and endpoints to their owner. */

/** Values by their names. */
export type Labels = Readonly<Record<string, string>>

/** Labels to add or replace; null takes one away. The others stay, whoever changes them at the same time. */
export type LabelChange = Readonly<Record<string, string | null>>

/** How many labels there are at most, and characters of a value. */
export interface LabelLimits {
  readonly most: number
  readonly longest: number
}

/** Those of an account, and of an endpoint, of which a page shows fifty. */
export const LABELS = {
  account: { most: 64, longest: 255 },
  endpoint: { most: 10, longest: 64 },
} as const satisfies Readonly<Record<string, LabelLimits>>

/** The labels after a change; null where they would be more than `most`. */
export function relabelled(labels: Labels, change: LabelChange, most: number): Labels | null {
  const left = withoutNulls({ ...labels, ...change })
  return Object.keys(left).length > most ? null : left
}

/** The labels that a change leaves where there were none before. */
export function withoutNulls(change: LabelChange): Labels {
  return Object.fromEntries(
    Object.entries(change).filter((each): each is [string, string] => each[1] !== null),
  )
}
