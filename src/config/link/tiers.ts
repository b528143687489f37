import type { Mistake } from '../mistake.ts'
import { nearest } from '../suggest.ts'
import type { Partly, Written } from '../written.ts'
import { named, type Row } from './rows.ts'

/** Tiers that rules have and no plan offers, and tiers that plans offer and no rule has. */
export function checkTiers(written: Partly<Written>, rows: readonly Row[]): Mistake[] {
  if (written.plans?.plans === undefined || written.methods?.families === undefined) return []
  const offered = offers(written)
  const had = rows.flatMap(row => (row.rule.tier === undefined ? [] : [{ tier: row.rule.tier, row }]))
  const hadTiers = [...new Set(['any', ...had.map(({ tier }) => tier)])]
  const offeredTiers = [...new Set(['any', ...offered.map(({ tier }) => tier)])]
  // Without networks.yaml its rules are not known: then only what looks like a slip is held against a plan.
  const isVain = (tier: string) =>
    !hadTiers.includes(tier) &&
    (written.networks?.networks !== undefined || nearest(tier, hadTiers) !== undefined)
  const vain = offered.filter(({ tier }) => isVain(tier))
  // A slip in a plan makes all rules of the tier unreachable: it is told once, where it was made.
  const meant = new Set(vain.map(({ tier }) => nearest(tier, hadTiers)))
  return [
    ...vain.map(({ tier, path }): Mistake => {
      return {
        file: 'plans.yaml',
        path,
        at: 'value',
        message: `no rule has the tier "${tier}"`,
        hint: didYouMean(tier, hadTiers),
      }
    }),
    ...hadTiers
      .filter(tier => !offeredTiers.includes(tier) && !meant.has(tier))
      .map(tier => {
        const first = had.find(one => one.tier === tier)!.row
        const count = had.filter(one => one.tier === tier).length
        const message = `no plan offers the tier "${tier}"${count === 1 ? '' : ` (${count} rules have it)`}`
        const path = [...first.path, 'tier']
        return { file: first.file, path, at: 'value', message, hint: didYouMean(tier, offeredTiers) } as const
      }),
  ]
}

function offers(written: Partly<Written>): { tier: string; path: (string | number)[] }[] {
  return named(written.plans?.plans).flatMap(([name, plan]) =>
    (plan.tiers ?? []).flatMap((tier, index) =>
      tier === undefined ? [] : [{ tier, path: ['plans', name, 'tiers', index] }],
    ),
  )
}

function didYouMean(word: string, known: readonly string[]): string | undefined {
  const match = nearest(word, known)
  return match === undefined ? undefined : `did you mean "${match}"?`
}
