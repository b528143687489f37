/** What an edit changed, a readable line for each thing. */
import type { FileName } from '../config/files.ts'
import { hideSecrets, isSecret } from '../config/schema/hide-secrets.ts'
import type { Config, PlanConfig, RouteConfig, RuleConfig } from '../config/types.ts'

/** Lines such as `routes.yaml: ~ ethereum-a weight 1 → 3`, one thing a step; none when nothing changed. */
export function* changesInSteps(before: Config, after: Config): Generator<void, string[]> {
  const all: string[] = []
  if (before.baseUrl !== after.baseUrl)
    all.push(`networks.yaml: baseUrl ${before.baseUrl} → ${after.baseUrl}`)
  const lists = [
    lines('networks.yaml', keyed(before.networks, 'slug'), keyed(after.networks, 'slug'), () => ''),
    lines('routes.yaml', keyed(before.routes, 'id'), keyed(after.routes, 'id'), routeBrief),
    ...(Object.keys(after.families) as (keyof Config['families'])[]).map(family =>
      lines('methods.yaml', named(before.families[family]), named(after.families[family]), ruleBrief),
    ),
    lines('plans.yaml', keyed(before.plans, 'name'), keyed(after.plans, 'name'), planBrief),
  ]
  for (const list of lists)
    for (const found of list) {
      all.push(...found)
      yield
    }
  all.push(...fields('routes.yaml', '', { errors: before.errors }, { errors: after.errors }))
  all.push(...fields('methods.yaml', ' notification', before.notification, after.notification))
  all.push(...fields('gateway.yaml', '', before.gateway, after.gateway))
  return all
}

function keyed<T>(list: readonly T[], key: keyof T): Map<string, T> {
  return new Map(list.map(item => [String(item[key]), item]))
}

function named(rules: Readonly<Record<string, RuleConfig>>): Map<string, RuleConfig> {
  return new Map(Object.entries(rules))
}

function routeBrief({ priority }: RouteConfig): string {
  return ` (priority ${priority})`
}

function ruleBrief({ cost }: RuleConfig): string {
  return ` (cost ${cost ?? 1})`
}

function planBrief({ rate }: PlanConfig): string {
  return rate === null ? '' : ` (${rate.perSecond}/s)`
}

/** The lines of each thing that is new, gone or changed. */
function* lines<T extends object>(
  file: FileName,
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  brief: (item: T) => string,
): Generator<string[]> {
  for (const [name, item] of after) if (!before.has(name)) yield [`${file}: + ${name}${brief(item)}`]
  for (const name of before.keys()) if (!after.has(name)) yield [`${file}: - ${name}`]
  for (const [name, item] of after) {
    const old = before.get(name)
    if (old !== undefined) yield fields(file, ` ${name}`, old, item)
  }
}

/** One line per member that differs; members of members by their path. Of a secret it says that it changed, not to what. */
function fields(file: FileName, what: string, before: object, after: object, path = ''): string[] {
  const start = `${file}: ~${what}`
  const [old, now] = [before, after] as [Record<string, unknown>, Record<string, unknown>]
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])]
  return names.flatMap(name => {
    const [from, to] = [old[name], now[name]]
    if (JSON.stringify(from) === JSON.stringify(to)) return []
    if (isSecret(file, path + name)) return [`${start} ${path}${name} changed`]
    if (isMap(from) && isMap(to)) return fields(file, what, from, to, `${path}${name}.`)
    const [was, is] = [from, to].map(value => told(hideSecrets(file, value, path + name)))
    return [`${start} ${path}${name} ${was} → ${is}`]
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
