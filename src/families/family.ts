/** What a gateway has to know of a kind of chain beyond its YAML: one object a family, and no other place asks which family a network is of. */
import type { Raw } from '../jsonrpc/raw.ts'
import type { CodeColumn } from '../refusal/refusal.ts'
import type { ErrorRow, MethodRow } from '../snapshot/types.ts'
import type { GapFiller, Heights } from './gap.ts'
import type { ProbeWords } from './probing.ts'
import type { Reading } from './reading.ts'
import type { NodeError } from './errors/outcome.ts'
import type { BlockSpan } from './block-span.ts'
import type { Blockhashes } from './blockhashes.ts'
import type { HeightKind } from './height-kind.ts'
import type { RouteNeed } from './route-need.ts'

/** A call as a family reads it. */
export interface ReadCall {
  readonly row: MethodRow
  readonly method: string
  readonly params: Raw
  /** The first of the params, where they are an array. */
  readonly elements: readonly Raw[]
  readonly span: BlockSpan
}

/** What an answer shows of the chain. */
export interface Shown {
  /** Heights, each on its scale. */
  readonly heights: readonly (readonly [scale: HeightKind, number: number])[]
  /** A blockhash that the route gives out, which it knows before others do; null when there is none. */
  readonly blockhash: string | null
}

/** What a node's refusal to take a transaction may mean when an earlier attempt may have brought it there. */
export interface SentBefore {
  /** What the first attempt would have been answered with. */
  readonly result: Raw
  /** The question whose answer, if it is not null, proves that the chain has the transaction; null where nothing has to be proved. */
  readonly proof: { readonly method: string; readonly params: Raw } | null
}

/** How subscriptions are spoken of. */
export interface SubscriptionWords {
  /** Method of the notifications of the subscriptions that this method makes. */
  notification(method: string): string
  /** An id for a client's subscription, as nodes give them. */
  newId(): Raw
  /** The error of an unsubscribe call with an id that is not known. */
  readonly unknownId: Raw
  /** A notification, as what stands before and behind the client's id: the rest of it is the same for all clients. */
  encode(notification: string, result: Raw): readonly [before: Raw, after: Raw]
  /** Spells equal params equally; the elements are changed in place. */
  normalize(method: string, elements: Raw[]): void
  /** Knows what a gap between two upstream sockets has swallowed. */
  filler(method: string, params: Raw, heights: Heights): GapFiller
  /** Whether no more comes of it than one message per block or slot. */
  isPerBlock(method: string, params: Raw): boolean
  /** Reads the height that a message shows; null for subscriptions that are quiet where nothing happens. */
  heightReader(method: string, params: Raw): ((result: Raw) => number | null) | null
  /** The scale on which its messages show numbers to their reader; null when they show none. */
  scale(method: string, params: Raw): HeightKind | null
  /** The number that one message shows. */
  shown(method: string, scale: HeightKind, result: Raw): number | null
}

/** How the errors of its nodes are told apart. */
export interface NodeErrors {
  /** Outcomes of an execution that other nodes may see differently. */
  readonly outcomes: readonly ErrorRow[]
  /** Whether an error is the outcome of an execution; `message` is in lower case. */
  isOutcome(error: NodeError, message: string): boolean
  readonly table: readonly ErrorRow[]
  /** HTTP statuses of faults under which its nodes answer calls with errors as well: there the body decides, where it is one. */
  readonly statuses: readonly number[]
}

/** A kind of chain. */
export interface Family extends ProbeWords {
  /** How its calls travel. */
  readonly wire: 'json-rpc' | 'http'
  /** Its column of the table of refusals. */
  readonly codes: CodeColumn
  /** Whether clients may leave `"jsonrpc": "2.0"` out or name another version, as those of JSON-RPC 1.0 do. */
  readonly anyVersion: boolean
  readonly errors: NodeErrors
  /** Whether its methods take their params by position only. */
  readonly isPositional: boolean
  /** What names have that a pattern may let through: one padded with white space or lookalikes could be a denied one to a lenient node. */
  readonly methodName: RegExp
  /** Heights that pass between two probes of a route: fewer say nothing of who is behind. */
  readonly probeLag: number
  /** Milliseconds per height until the network's own pace has been measured. */
  readonly usualPace: number
  /** What a call wants of a route besides being able; null where the block that it reads says all. */
  wants(call: ReadCall, network: string, blockhashes: Pick<Blockhashes, 'find'>): RouteNeed | null
  shown(call: ReadCall, wants: RouteNeed | null, result: Raw): Shown
  /** Which block the answer is about, as far as the params say. */
  reading(call: ReadCall, wants: RouteNeed | null): Reading
  /** Reads the error to a transaction that may have been sent before; null where it says nothing of that. */
  sentBefore(
    elements: readonly Raw[],
    error: { readonly error: Raw; readonly message: string },
  ): SentBefore | null
  /**
   * The hash of the transaction that a call sends, computed from its bytes; null if they are none, are more than chains accept, or the
   * family has no such hash.
   */
  transactionHash(elements: readonly Raw[]): Raw | null
  /** The hash of the call's transaction, where an error says that the node has it all the same; null in any other error. */
  takenBy(elements: readonly Raw[], error: Raw): Raw | null
  /** The answer to a question for health while a route is well. */
  readonly well: Raw
  /** The error while none is; `behind` are the heights that the best one lacks. Null where nodes have no such error. */
  unwell(behind: number | null): Raw | null
  readonly subscriptions: SubscriptionWords
}
