/** What a family may do to find out how a route is: its questions, and where their answers go. */
import type { Reply } from '../jsonrpc/message.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { Network } from '../snapshot/types.ts'
import type { HeightKind } from './height-kind.ts'

/** What a node answered; `failed` is a route that cannot answer now, with what its node said where it said anything. */
export type Told =
  | { readonly kind: 'result'; readonly result: Raw }
  | { readonly kind: 'error' }
  | { readonly kind: 'failed'; readonly why: string; readonly said: Reply | null }

/** The reply of an HTTP API. */
export type Page =
  | { readonly kind: 'whole'; readonly status: number; readonly body: Raw }
  | { readonly kind: 'open'; readonly status: number }
  | { readonly kind: 'broken'; readonly how: string }

/** A block that a node reports as final; Solana's nodes report no hash with it. */
export interface FinalBlock {
  readonly number: number
  readonly hash: string | null
}

/** What is kept of a route that its node alone can say. */
export interface ProbedRoute {
  readonly id: string
  /** The last block or slot that it showed and that is believed. */
  readonly head: number | null
  syncing: boolean
  /** How far behind its chain it says that it is; null when it does not. */
  slotsBehind: number | null
  /** The oldest slot that it keeps; null until it has told, and where it keeps all. */
  firstSlot: number | null
  readonly slots: {
    tell(scale: HeightKind, number: number, askedAt: number, now: number): void
    at(scale: HeightKind): number | null
  }
}

/** One look at one route: one question after another, so that it needs one connection. */
export interface Probing {
  readonly network: Network
  readonly route: ProbedRoute
  /** Milliseconds of a monotonic clock. */
  now(): number
  ask(method: string, params: Raw): Promise<Told>
  /** The same for the question that tells whether the route answers at all. */
  askAlive(method: string, params: Raw): Promise<Told>
  /** A request to an HTTP API. */
  get(path: string): Promise<Page>
  /** Whether the route answers at all, where the family reads that from a page; `why` is null when it does. */
  alive(why: string | null): void
  /** Takes a height that the node claims. */
  claim(height: number): void
  /** Whether the route is further behind the network's head than `maxLag` allows, or its head is not known. */
  isBehind(): boolean
  /** Whether the last claim is believed only with the block of it. */
  needsProof(): boolean
  /** The block was shown. */
  proved(height: number): void
  /** The newest block that the node holds to be final; null where it cannot say. */
  final(block: FinalBlock | null): void
  /** Whether any route of the network has shown a block on that scale: clients read it then. */
  isRead(scale: HeightKind): boolean
  /** Final blocks to ask for: a changed hash reveals a reorganization below them. */
  finalsToShow(): readonly number[]
  /** The node has returned one of these blocks. */
  finalShown(block: FinalBlock): void
  /** Whether a question is due that is asked once in so many milliseconds. */
  isDue(question: string, every: number): boolean
}

/** A call that shows whether a route answers. */
export type Question = readonly [method: string, params: Raw]

/** A family's own questions. */
export interface ProbeWords {
  /** Null where the nodes of a network have none. */
  question(network: Network): Question | null
  /** How far the route has come, and whether it is well. */
  probe(probing: Probing): Promise<void>
  /** Whether what calls say about the route is true, and how far it has come: what has to be answered soon. */
  confirm(probing: Probing): Promise<void>
  /** What is wrong with the route's chain, as a sentence; null when nothing is or nobody can say, undefined when it did not answer. */
  identify(probing: Probing): Promise<string | null | undefined>
}
