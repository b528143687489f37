/** What the files say of kept answers. */

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
