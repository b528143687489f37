/** What an operator can change so that a refused call is served. */
import type { Explained } from '../../call/explain/explain.ts'

/** A command from its words. */
export type Run = (words: readonly string[]) => string

/** Sentences in the imperative; none where nothing is to be changed. */
export function adviceFor(explained: Explained, run: Run): string[] {
  const { reason } = explained.explanation
  return reason === undefined ? [] : adviceOn({ reason, data: explained.details.data }, explained, run)
}

interface Refused {
  readonly reason: string
  readonly data: Readonly<Record<string, unknown>>
}

function adviceOn({ reason, data }: Refused, explained: Explained, run: Run): string[] {
  const { explanation, details } = explained
  const { network, rule } = explanation
  switch (reason) {
    case 'plan_required':
      return [...adviceBeyond(explained, run), planAdvice(rule?.tier ?? '', details.plans, run)]
    case 'capability_missing':
      return [capabilityAdvice(String(data['capability']), network)]
    case 'no_route':
      return [details.isDown ? WAIT : routeAdvice(explained)]
    case 'method_not_found':
      return details.absence?.change == null ? [] : [details.absence.change]
    case 'invalid_params':
      return paramsAdvice(data, details)
    case 'invalid_key':
      return ["send it with the key of one of the account's endpoints"]
    default:
      return []
  }
}

/** Another plan alone would be bought for nothing. */
function adviceBeyond(explained: Explained, run: Run): string[] {
  const { beyond } = explained.details
  return beyond == null ? [] : [`no plan is enough: ${beyond.message}`, ...adviceOn(beyond, explained, run)]
}

const WAIT = 'look at the upstreams: a route is taken back by itself once its node answers well'

function planAdvice(tier: string, plans: readonly string[], run: Run): string {
  const [plan] = plans
  return plan === undefined
    ? `add "${tier}" to the tiers of a plan in plans.yaml`
    : `the tier "${tier}" is in ${plans.join(', ')}: ${run(['account', 'set-plan', 'ACCOUNT_ID', plan])}`
}

function capabilityAdvice(capability: string, network: string): string {
  return capability === 'ws'
    ? `give a route of ${network} a ws URL in routes.yaml`
    : `add "${capability}" to the capabilities of a route of ${network} whose node has it`
}

function routeAdvice({ explanation: { network, routes } }: Explained): string {
  const off = routes.map(({ id }) => id)
  return off.length === 0
    ? `add a route with network: ${network} to routes.yaml`
    : `enable one of its routes in routes.yaml: ${off.join(', ')}`
}

function paramsAdvice(data: Refused['data'], { rule }: Explained['details']): string[] {
  const { tracers, maxRange } = data
  if (Array.isArray(tracers))
    return [`use ${tracers.join(', ')}, or add to tracers of the rule ${rule?.match ?? ''}`]
  return maxRange === undefined
    ? []
    : [`ask for fewer blocks, or raise maxRange of the rule ${rule?.match ?? ''}`]
}
