/** What an edit changed, a readable line for each thing. */
import type { Config, PlanConfig, RuleConfig } from '../config/types.ts'

/** Values that are the operator's secrets: that they changed is told, not to what. */
const SECRET = new Set(['http', 'ws', 'headers'])

/** Lines such as `routes.yaml: ~ ethereum-a weight 1 → 3`; none when nothing changed. */
export function describeChanges(before: Config, after: Config): string[] {
  const families = Object.keys(after.families) as (keyof Config['families'])[]
  return [
    ...(before.baseUrl === after.baseUrl
      ? []
      : [`networks.yaml: baseUrl ${before.baseUrl} → ${after.baseUrl}`]),
    ...lines('networks.yaml', keyed(before.networks, 'slug'), keyed(after.networks, 'slug'), () => ''),
    ...lines(
      'routes.yaml',
      keyed(before.routes, 'id'),
      keyed(after.routes, 'id'),
      route => ` (priority ${route.priority})`,
    ),
    ...families.flatMap(family =>
      lines<RuleConfig>(
        'methods.yaml',
        new Map(Object.entries(before.families[family])),
        new Map(Object.entries(after.families[family])),
        rule => ` (cost ${rule.cost ?? 1})`,
      ),
    ),
    ...lines('plans.yaml', keyed(before.plans, 'name'), keyed(after.plans, 'name'), planBrief),
    ...fields('methods.yaml: ~ notification', before.notification, after.notification),
    ...fields('gateway.yaml: ~', before.gateway, after.gateway),
  ]
}

function keyed<T>(list: readonly T[], key: keyof T): Map<string, T> {
  return new Map(list.map(item => [String(item[key]), item]))
}

function planBrief({ rate }: PlanConfig): string {
  return rate === null ? '' : ` (${rate.perSecond}/s)`
}

function lines<T extends object>(
  file: string,
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  brief: (item: T) => string,
): string[] {
  const added = [...after]
    .filter(([name]) => !before.has(name))
    .map(([name, item]) => `${file}: + ${name}${brief(item)}`)
  const removed = [...before.keys()].filter(name => !after.has(name)).map(name => `${file}: - ${name}`)
  const changed = [...after].flatMap(([name, item]) => {
    const old = before.get(name)
    return old === undefined ? [] : fields(`${file}: ~ ${name}`, old, item)
  })
  return [...added, ...removed, ...changed]
}

/** One line per member that differs; members of members by their path. */
function fields(start: string, before: object, after: object, path = ''): string[] {
  const [old, now] = [before, after] as [Record<string, unknown>, Record<string, unknown>]
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])]
  return names.flatMap(name => {
    const [from, to] = [old[name], now[name]]
    if (JSON.stringify(from) === JSON.stringify(to)) return []
    if (SECRET.has(name)) return [`${start} ${path}${name} changed`]
    if (isMap(from) && isMap(to)) return fields(start, from, to, `${path}${name}.`)
    return [`${start} ${path}${name} ${told(from)} → ${told(to)}`]
  })
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function told(value: unknown): string {
  if (value === undefined || value === null) return 'none'
  if (Array.isArray(value)) return `[${value.map(told).join(', ')}]`
  if (typeof value !== 'object') return typeof value === 'string' ? value : JSON.stringify(value)
  const members = Object.entries(value).map(([name, inner]) => `${name}: ${told(inner)}`)
  return `{${members.join(', ')}}`
}
