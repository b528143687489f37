/** `newHeads`: missed heads are read by number; after a reorg from the fork on, as a node would send them. */
import { readQuantity } from '../../jsonrpc/quantity.ts'
import { membersOf, pickMembers } from '../../jsonrpc/elements.ts'
import { rawJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { GapBroken, GapTooWide, WIDEST_GAP, checkGap, mustAsk, quantity } from './gap.ts'
import type { GapFiller } from './gap.ts'
import type { Ask } from './upstream-socket.ts'

interface Head {
  readonly number: number
  /** Raw, quotes included. */
  readonly hash: Raw
}

/** Members of a block that a head does not have. */
const NOT_OF_A_HEAD = new Set(['transactions', 'uncles', 'withdrawals', 'size', 'totalDifficulty'])

/** A filler that remembers the heads that were delivered. */
export function headsFiller(): GapFiller {
  /** The delivered heads of the current branch, oldest first. */
  let branch: Head[] = []
  const remember = (head: Head): void => {
    branch = [...branch.filter(({ number }) => number < head.number), head].slice(-WIDEST_GAP)
  }
  return {
    started: () => Promise.resolve(),
    take: result => {
      const head = headOf(result)
      if (head === null) return true
      if (branch.some(({ hash }) => hash === head.hash)) return false
      remember(head)
      return true
    },
    isLast: () => false,
    fill: ask => fillHeads(ask, branch, remember),
  }
}

async function* fillHeads(
  ask: Ask,
  branch: readonly Head[],
  remember: (head: Head) => void,
): AsyncGenerator<Raw> {
  if (branch.length === 0) return
  const latest = await mustRead(ask, '["latest",false]')
  // A head far above the chain's was never one of its blocks, whoever announced it.
  const believed = branch.filter(({ number }) => number <= latest.head.number + WIDEST_GAP)
  const last = believed.at(-1)
  if (last === undefined) throw new GapTooWide('no head that was delivered is known to the chain')
  checkGap(last.number, latest.head.number)
  for (let next = (await fork(ask, believed)) + 1; next <= latest.head.number; next += 1) {
    const { head, block } = await mustRead(ask, `[${quantity(next)},false]`)
    if (head.number !== next) throw new GapBroken(`block ${head.number} was given for ${next}`)
    remember(head)
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

/** Number of the newest delivered block that the new upstream has too, or that it has not come to yet. */
async function fork(ask: Ask, branch: readonly Head[]): Promise<number> {
  for (const { number, hash } of branch.toReversed()) {
    const there = headOf(await mustAsk(ask, 'eth_getBlockByNumber', `[${quantity(number)},false]`))
    if (there === null || there.hash === hash) return number
  }
  return (branch[0]?.number ?? 0) - 1
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
