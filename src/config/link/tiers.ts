import type { Finding } from '../finding.ts'
import type { Path } from '../yaml/path.ts'
import { nearest } from '../words/suggest.ts'
import type { Partly, RawConfig } from '../raw-config.ts'
import { lacksTiers, mayLack } from './gaps.ts'
import { named, type Row } from './rows.ts'

/** The tier of debug, trace and txpool methods (spec, "Chain methods"). */
const PAID = 'paid'

/** Where a tier is named. */
interface Naming extends Pick<Finding, 'file' | 'path'> {
  readonly tier: string
}

/**
 * Tiers that plans offer and no rule has, and tiers that rules have and no plan offers. The spec's own tiers are always
 * known: a small methods.yaml may have no paid rule, and an operator without a paid plan is only warned.
 */
export function checkTiers(written: Partly<RawConfig>, rows: readonly Row[]): Finding[] {
  if (written.plans?.plans === undefined || written.methods?.families === undefined) return []
  const offered = offersIn(written)
  const had = namingsIn(rows)
  const vain = vainOffers(offered, tiersOf(had), !mayLack(written, 'tier'))
  // A slip in a plan takes a tier from all rules that have it: it is told once, where it was made.
  const meant = new Set(vain.map(({ tier }) => nearest(tier, tiersOf(had))))
  const lost = lacksTiers(written)
    ? []
    : lostTiers(had, tiersOf(offered)).filter(({ tier }) => !meant.has(tier))
  return [
    ...vain.map(naming => finding(naming, `no rule has the tier "${naming.tier}"`, tiersOf(had))),
    ...lost.map(naming => {
      const others = had.filter(({ tier }) => tier === naming.tier).length
      const count = others === 1 ? '' : ` (${others} rules have it)`
      return finding(naming, `no plan offers the tier "${naming.tier}"${count}`, tiersOf(offered))
    }),
  ]
}

/** Offers of tiers that nobody has; where rules are missing, only what looks like a slip. */
function vainOffers(
  offered: readonly Naming[],
  had: readonly string[],
  allTiers: boolean,
): readonly Naming[] {
  return offered.filter(
    ({ tier }) => tier !== PAID && !had.includes(tier) && (allTiers || nearest(tier, had) !== undefined),
  )
}

/** The first rule of each tier that is not offered. */
function lostTiers(had: readonly Naming[], offered: readonly string[]): readonly Naming[] {
  const lost = tiersOf(had).filter(tier => !offered.includes(tier))
  return lost.flatMap(tier => had.find(naming => naming.tier === tier) ?? [])
}

/** The tiers named, and `any`, which needs no naming. */
function tiersOf(namings: readonly Naming[]): string[] {
  return [...new Set(['any', ...namings.map(({ tier }) => tier)])]
}

function namingsIn(rows: readonly Row[]): Naming[] {
  return rows.flatMap(({ file, path, rule: { tier } }) =>
    tier === undefined ? [] : [{ file, path: [...path, 'tier'], tier }],
  )
}

function offersIn(written: Partly<RawConfig>): Naming[] {
  return named(written.plans?.plans).flatMap(([name, plan]) =>
    (plan.tiers ?? []).flatMap((tier, index) => {
      const path: Path = ['plans', name, 'tiers', index]
      return tier === undefined ? [] : [{ file: 'plans.yaml' as const, path, tier }]
    }),
  )
}

function finding({ file, path, tier }: Naming, message: string, known: readonly string[]): Finding {
  const match = nearest(tier, known)
  return {
    file,
    path,
    at: 'value',
    message,
    hint: match === undefined ? undefined : `did you mean "${match}"?`,
    ...(tier === PAID ? { severity: 'warning', kind: 'paid-plan' } : {}),
  }
}
