/** What a call asks of the route that serves it, by the block it reads. */
import type { Rule } from '../../snapshot/types.ts'
import type { Need } from '../../routes/pick.ts'
import type { BlockSpan } from '../../families/evm/block.ts'
import type { SlotRead } from '../../families/solana/slot-read.ts'

/**
 * The need of a call; `floor` is the newest block that its endpoint was shown on the call's scale, `slots` what a Solana call
 * says of its own.
 */
export function needOf(
  rule: Rule,
  span: BlockSpan,
  floor: number | null,
  slots: SlotRead | null = null,
): Need {
  const to = span?.to ?? null
  const mayProbe = rule.retry === 'safe'
  // Without a block of its own a call is about the present: prices, the pool, sending.
  const tip = to === null || (to.kind === 'tag' && to.tag !== 'earliest')
  if (slots !== null) {
    const { scale, prefer } = slots
    const own = to?.kind === 'number' ? to.number : null
    return { tip, atLeast: highest(own, slots.slot, tip ? floor : null), mayProbe, scale, prefer }
  }
  if (to?.kind === 'number') return { tip: false, atLeast: to.number, mayProbe }
  return { tip, atLeast: tip ? floor : null, mayProbe }
}

function highest(...numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter(number => number !== null)
  return known.length === 0 ? null : Math.max(...known)
}
