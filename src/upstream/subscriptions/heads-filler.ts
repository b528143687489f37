/** `newHeads`: missed heads are read by number; after a reorg from the fork on, as a node would send them. */
import { memberOf, membersOf } from '../../jsonrpc/elements.ts'
import { decodeJson, rawJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { GapTooWide, WIDEST_GAP, mustAsk, quantity } from './gap.ts'
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
  const last = branch.at(-1)
  if (last === undefined) return
  const latest = headOf(await mustAsk(ask, 'eth_getBlockByNumber', '["latest",false]'))
  if (latest === null) return
  if (latest.number - last.number > WIDEST_GAP)
    throw new GapTooWide(`${latest.number - last.number} blocks were missed`)
  let next = (await fork(ask, branch)) + 1
  for (; next <= latest.number; next += 1) {
    const block = await mustAsk(ask, 'eth_getBlockByNumber', `[${quantity(next)},false]`)
    const head = headOf(block)
    if (head === null) return
    remember(head)
    yield asHead(block)
  }
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
  const number = memberOf(raw, 'number')
  const hash = memberOf(raw, 'hash')
  return number == null || hash == null ? null : { number: Number(decodeJson(number)), hash }
}

function asHead(block: Raw): Raw {
  const members = membersOf(block).filter(([name]) => !NOT_OF_A_HEAD.has(name))
  return `{${members.map(([name, value]) => `${rawJson(name)}:${value}`).join(',')}}`
}
