/** Joins a rule with the routes able to serve it, and says of each other one why it is skipped. */
import { covers } from '../net/patterns.ts'
import type { MethodRow, Route, Rule, SkippedRoute, Unable } from './types.ts'

/** The capability a rule needs and a route lacks; null when it has all. */
function lacking(rule: Rule, route: Route): string | null {
  for (const need of rule.needs) {
    const has = need === 'ws' ? route.ws !== null : route.capabilities.includes(need)
    if (!has) return need
  }
  return null
}

function denies(route: Route, method: string): string | null {
  if (route.methods.deny.some(written => covers(written, method))) return 'its methods.deny lists it'
  const { allow } = route.methods
  if (allow !== null && !allow.some(written => covers(written, method)))
    return 'its methods.allow leaves it out'
  return null
}

/** The names and patterns by which any of the routes allows or denies methods, each once. */
export function namedByRoutes(routes: readonly Route[]): string[] {
  return [...new Set(routes.flatMap(({ methods: { allow, deny } }) => [...(allow ?? []), ...deny]))]
}

/** Why transactions of the network and a route keep apart; null when they do not. */
function whyApart({ sends }: Rule, route: Route, privateSends: boolean): string | null {
  if (sends)
    return privateSends && !route.private ? 'transactions of its network go to private routes alone' : null
  // What such a route is there for besides, its list says.
  return route.private && route.methods.allow === null
    ? 'it is private, and without methods.allow serves transactions alone'
    : null
}

/** Why `route` cannot serve the rule's method; null when it can. */
function whyNot(rule: Rule, route: Route, privateSends: boolean): string | null {
  const apart = whyApart(rule, route, privateSends)
  if (apart !== null) return apart
  const need = lacking(rule, route)
  if (need !== null) return need === 'ws' ? 'it has no ws URL' : `it lacks the capability "${need}"`
  return denies(route, rule.match)
}

/**
 * One method of a network with its able routes (`routes` come sorted by priority and enabled). `privateSends`: its transactions go to
 * private routes alone.
 */
export function joinRule(rule: Rule, routes: readonly Route[], privateSends: boolean): MethodRow {
  return { rule, ...ablenessOf(rule, routes, privateSends) }
}

/** Joins many rules with the same routes; what equal rules have in common is one object: a network has hundreds. */
export function joinRules(
  rules: readonly Rule[],
  routes: readonly Route[],
  privateSends: boolean,
): MethodRow[] {
  const known = new Map<string, Ableness>()
  return rules.map(rule => {
    const denied = routes.map(route => (denies(route, rule.match) === null ? '' : route.id))
    const key = JSON.stringify([rule.needs, rule.answer === null, rule.sends, denied])
    const ableness = known.get(key) ?? ablenessOf(rule, routes, privateSends)
    known.set(key, ableness)
    return { rule, ...ableness }
  })
}

/** Which routes are able, and what is with the others. */
type Ableness = Omit<MethodRow, 'rule'>

function ablenessOf(rule: Rule, routes: readonly Route[], privateSends: boolean): Ableness {
  const able: Route[] = []
  const skipped: SkippedRoute[] = []
  for (const route of routes) {
    const why = whyNot(rule, route, privateSends)
    if (why === null) able.push(route)
    else skipped.push({ id: route.id, why })
  }
  return {
    routes: able.map(route => route.id),
    archive: able.filter(route => route.capabilities.includes('archive')).map(route => route.id),
    skipped,
    unable: able.length > 0 || rule.answer !== null ? null : whyUnable(rule, routes, privateSends),
  }
}

function whyUnable(rule: Rule, all: readonly Route[], privateSends: boolean): Unable {
  const routes = all.filter(route => whyApart(rule, route, privateSends) === null)
  if (routes.length === 0) return { reason: 'no_route' }
  const allowing = routes.filter(route => denies(route, rule.match) === null)
  if (allowing.length === 0) return { reason: 'method_not_found' }
  // The need that the fewest routes have is the one worth naming.
  const capability =
    allowing.map(route => lacking(rule, route)).find(need => need !== null) ?? rule.needs[0] ?? ''
  return { reason: 'capability_missing', capability }
}
