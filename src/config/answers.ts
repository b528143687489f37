/** What the files say of answers: those that are kept, and what a result shows. */

/** The answers that each process keeps. Sizes in bytes. */
export interface CacheConfig {
  /** Of answers and their keys, of one process. */
  readonly memory: number
  /** The longest answer. */
  readonly entry: number
  /** Whether replies say whether they come from there. */
  readonly header: boolean
}

/** What makes an answer last: its params alone, that its block is final, or that the head stays where it is. */
export type CacheClass = 'fixed' | 'final' | 'tip'

/** What counts as final: up to a block that nodes name, or so many blocks below the head. */
export type Finality = 'finalized' | 'safe' | number

/** The same in networks.yaml. */
export interface NetworkCache {
  /** Null where nothing is known to be final. */
  readonly finality: Finality | null
  /** Null is nothing. `tip`: for how many milliseconds answers about the newest block. */
  readonly cache: { readonly tip: number } | null
}

/** The same in a row of methods.yaml. */
export interface RuleCache {
  readonly cache?: readonly CacheClass[]
}

/** What a row says of the results of its calls. */
export interface RuleResult {
  /** Where the result shows the number of its block, as a path. */
  readonly shows?: string
  /** Where it repeats the hash that the call names, as a path; `none` compares nothing of a result with its call. */
  readonly is?: string
  /** Whether null from a route that is behind may be its lag. */
  readonly nullIsLag?: boolean
}
