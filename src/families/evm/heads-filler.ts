/** `newHeads`: missed heads are read by number; after a reorg from the fork on, as a node would send them. */
import { readQuantity } from '../../jsonrpc/quantity.ts'
import { membersOf, pickMembers } from '../../jsonrpc/elements.ts'
import { rawJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Ask, GapFiller, Heights } from '../gap.ts'
import {
  GapBroken,
  GapTooWide,
  WIDEST_GAP,
  checkBehind,
  checkGap,
  isFarBehind,
  mustAsk,
  quantity,
} from '../gap.ts'

interface Head {
  readonly number: number
  /** Raw, quotes included. */
  readonly hash: Raw
}

/** Members of a block that a head does not have. */
const NOT_OF_A_HEAD = new Set(['transactions', 'uncles', 'withdrawals', 'size', 'totalDifficulty'])

/** The delivered heads, as far as a gap may depend on them. */
class Delivered {
  readonly #heights: Heights
  /** Those of the current branch, oldest first. */
  #branch: readonly Head[] = []
  /** Those above what the network can have come to, as far as was known: they were true if the next upstream has them. */
  #doubtful: readonly Head[] = []
  /** Numbers of those that a reorg dropped. */
  #dropped: readonly number[] = []
  /** Hashes of those that were too low: no gap depends on them. */
  #low: readonly Raw[] = []

  constructor(heights: Heights) {
    this.#heights = heights
  }

  /** All of them, lowest first. */
  get heads(): readonly Head[] {
    return [...this.#branch, ...this.#doubtful].sort((a, b) => a.number - b.number)
  }

  has(hash: Raw): boolean {
    if (this.#low.includes(hash)) return true
    return [this.#branch, this.#doubtful].some(heads => heads.some(head => head.hash === hash))
  }

  /** Highest number up to `latest`, on this branch or a dropped one. */
  upTo(latest: number): number {
    const numbers = [...this.heads.map(({ number }) => number), ...this.#dropped]
    return Math.max(...numbers.filter(number => number <= latest))
  }

  /** A head drops those from its number on, unless it is too low to be one of the chain's. */
  add(head: Head): void {
    if (this.#isTooLow(head.number)) {
      this.#low = [...this.#low, head.hash].slice(-WIDEST_GAP)
      return
    }
    const below = ({ number }: Head): boolean => number < head.number
    const dropped = this.#branch.filter(known => !below(known)).map(({ number }) => number)
    this.#dropped = [...this.#dropped, ...dropped].slice(-WIDEST_GAP)
    this.#branch = this.#branch.filter(below)
    this.#doubtful = this.#doubtful.filter(below)
    if (this.#heights.isPlausible(head.number)) this.#branch = [...this.#branch, head].slice(-WIDEST_GAP)
    else this.#doubtful = [...this.#doubtful, head].slice(-WIDEST_GAP)
  }

  /** Where the network's head is a lie, what goes on from the delivered heads is still of the chain. */
  #isTooLow(number: number): boolean {
    return (
      isFarBehind(number, this.#heights) && number < (this.#branch.at(-1)?.number ?? Infinity) - WIDEST_GAP
    )
  }
}

/** A filler that remembers the heads that were delivered. */
export function headsFiller(heights: Heights): GapFiller {
  const delivered = new Delivered(heights)
  return {
    started: () => Promise.resolve(),
    take: result => {
      const head = headOf(result)
      if (head === null) return true
      if (delivered.has(head.hash)) return false
      delivered.add(head)
      return true
    },
    isLast: () => false,
    fill: (ask, head) => fillHeads(ask, delivered, heights, head),
  }
}

/** `reached`: the block up to which nothing was missed, as far as is known; it counts while no head has been delivered. */
async function* fillHeads(
  ask: Ask,
  delivered: Delivered,
  heights: Heights,
  reached: number | null,
): AsyncGenerator<Raw> {
  const [oldest] = delivered.heads
  if (oldest === undefined && reached === null) return
  const latest = (await mustRead(ask, '["latest",false]')).head.number
  if (oldest === undefined) {
    const begin = reached ?? latest
    checkGap(begin, latest, heights)
    yield* headsBetween(ask, delivered, begin, latest)
    return
  }
  // A head above those that this upstream has was no block of the chain, or will come again and is known.
  const known = delivered.heads.filter(({ number }) => number <= latest)
  if (known.length === 0) {
    checkBehind(oldest.number, latest, heights)
    return
  }
  const last = delivered.upTo(latest)
  checkGap(last, latest, heights)
  const begin = await fork(ask, known)
  if (last - begin > WIDEST_GAP) throw new GapTooWide(`more than ${WIDEST_GAP} blocks were dropped`)
  yield* headsBetween(ask, delivered, begin, latest)
}

/** The heads after one up to another that have not been delivered. */
async function* headsBetween(
  ask: Ask,
  delivered: Delivered,
  begin: number,
  latest: number,
): AsyncGenerator<Raw> {
  for (let next = begin + 1; next <= latest; next += 1) {
    const { head, block } = await mustRead(ask, `[${quantity(next)},false]`)
    if (head.number !== next) throw new GapBroken(`block ${head.number} was given for ${next}`)
    if (delivered.has(head.hash)) continue
    delivered.add(head)
    yield asHead(block)
  }
}

/** A block that has to be there. */
async function mustRead(ask: Ask, params: Raw): Promise<{ readonly head: Head; readonly block: Raw }> {
  const block = await mustAsk(ask, 'eth_getBlockByNumber', params)
  const head = headOf(block)
  if (head === null) throw new GapBroken('a block without number or hash')
  return { head, block }
}

/** Number of the newest delivered block that the new upstream has too. `known` lowest first, none above its head. */
async function fork(ask: Ask, known: readonly Head[]): Promise<number> {
  for (const { number, hash } of known.toReversed()) {
    const there = headOf(await mustAsk(ask, 'eth_getBlockByNumber', `[${quantity(number)},false]`))
    if (there?.hash === hash) return number
  }
  return (known[0]?.number ?? 0) - 1
}

function headOf(raw: Raw): Head | null {
  if (raw.charCodeAt(0) !== 123) return null
  const [numbered, hash] = pickMembers(raw, ['number', 'hash'])
  const number = readQuantity(numbered)
  return number === null || hash?.charCodeAt(0) !== 34 ? null : { number, hash }
}

function asHead(block: Raw): Raw {
  const members = membersOf(block).filter(([name]) => !NOT_OF_A_HEAD.has(name))
  return `{${members.map(([name, value]) => `${rawJson(name)}:${value}`).join(',')}}`
}
