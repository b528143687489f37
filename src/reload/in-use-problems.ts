/** What accounts say of a configuration: plans that they have and networks that their endpoints are on. */
import { unacknowledged } from '../config/problem.ts'
import type { Problem } from '../config/problem.ts'
import type { Config } from '../config/types.ts'
import type { Places } from '../snapshot/load-snapshot.ts'

/** Some of many. */
interface Holders {
  readonly count: number
  readonly first: readonly string[]
}

/** What accounts use. */
export interface InUse {
  plans(): readonly string[]
  /** How many accounts have a plan, and the first of them. */
  accountsWith(plan: string): Holders
  /** Slugs of the networks that endpoints are on. */
  networks(): readonly string[]
  endpointsOn(network: string): number
}

/**
 * A plan that accounts have may not vanish, nor a network that endpoints are on unless gateway.yaml acknowledges it. `lostNetwork` is how serious the
 * latter is: a start warns of it, as to serve nobody would be worse.
 */
export function inUseProblems(
  { plans, networks, gateway }: Pick<Config, 'plans' | 'networks' | 'gateway'>,
  inUse: InUse,
  places: Places,
  lostNetwork: Problem['severity'],
): readonly Problem[] {
  const gone = inUse.plans().filter(plan => !plans.some(({ name }) => name === plan))
  const known = new Set(networks.map(({ slug }) => slug))
  const lost = inUse.networks().filter(slug => !known.has(slug))
  const problems = lost.map((slug): Problem => {
    const count = inUse.endpointsOn(slug)
    const many = count === 1 ? '1 endpoint is' : `${count} endpoints are`
    return {
      file: 'networks.yaml',
      ...places.networks,
      path: 'networks',
      severity: lostNetwork,
      kind: 'endpoints-without-network',
      message: `${many} on the network "${slug}", which is not here`,
      hint: `move ${count === 1 ? 'it' : 'them'} to another one first (tollgate endpoint move --from ${slug} --to <network>), or acknowledge that ${count === 1 ? 'its' : 'their'} calls are refused`,
    }
  })
  return [...missingPlans(gone, inUse, places), ...unacknowledged(problems, gateway.acknowledge)]
}

function missingPlans(gone: readonly string[], inUse: InUse, places: Places): Problem[] {
  if (gone.length === 0) return []
  const names = gone.map(plan => `"${plan}"`).join(', ')
  return [
    {
      file: 'plans.yaml',
      ...places.plans,
      path: 'plans',
      severity: 'error',
      message: `accounts use ${gone.length === 1 ? 'a plan that is' : 'plans that are'} not here: ${names}`,
      hint: `move them to another plan first (tollgate account set-plan <id> <plan>): ${gone.map(plan => heldBy(plan, inUse)).join('; ')}`,
    },
  ]
}

/** `3 accounts have "free": acc_a, acc_b, acc_c` */
function heldBy(plan: string, inUse: InUse): string {
  const { count, first } = inUse.accountsWith(plan)
  const more = count > first.length ? ', …' : ''
  return `${count === 1 ? '1 account has' : `${count} accounts have`} "${plan}": ${first.join(', ')}${more}`
}
