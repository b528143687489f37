import type { Finding } from '../finding.ts'
import type { Path } from '../yaml/path.ts'
import { show } from '../words/show.ts'
import { suggester, type Suggest } from '../words/suggest.ts'
import type { Partly, RawConfig, RawRoute } from '../raw-config.ts'
import { capabilitiesIn } from './capabilities.ts'
import { lacksFamily, mayLack } from './gaps.ts'
import { checkHeaders, type Writer } from './headers.ts'
import { isKnown, methodsByNetwork, type KnownMethods } from './known-methods.ts'
import type { Row } from './rows.ts'
import { checkTimeout } from './timeouts.ts'

/** What routes are checked against; null where the file that says it cannot be read. */
interface Surroundings {
  readonly networks: { readonly names: ReadonlySet<string>; readonly suggest: Suggest } | null
  readonly capabilities: { readonly names: ReadonlySet<string>; readonly suggest: Suggest } | null
  /** Whether all that rules need is known. */
  readonly allNeeds: boolean
  readonly methodsOf: ((slug: string) => KnownMethods | null) | null
}

/**
 * What opens a WebSocket is negotiated with its upstream. `Content-Type` and `Accept`, which calls do not take from the operator, stand in many
 * examples of curl and nginx, and do no harm.
 */
const GATEWAY: Writer = {
  called: 'the gateway',
  owns: ['accept', 'extensions', 'key', 'protocol', 'version'].map(word => `sec-websocket-${word}`),
}

/** What routes.yaml gets wrong in itself and about the networks and methods it names. */
export function checkRoutes(written: Partly<RawConfig>, rows: readonly Row[]): Finding[] {
  const routes = written.routes?.routes ?? []
  const networks = written.networks?.networks
  const families = written.methods?.families
  const surroundings = {
    networks: networks === undefined ? null : vocabulary(Object.keys(networks)),
    capabilities: families === undefined ? null : vocabulary(capabilitiesIn(rows)),
    allNeeds: !mayLack(written, 'needs'),
    methodsOf: lacksFamily(written) || mayLack(written, 'subscribe') ? null : methodsByNetwork(written, rows),
  }
  return [
    ...routes.flatMap((route, index) =>
      route === undefined ? [] : checkRoute(route, ['routes', index], surroundings),
    ),
    ...checkIds(routes),
  ]
}

function vocabulary(names: Iterable<string>): { names: ReadonlySet<string>; suggest: Suggest } {
  const set = new Set(names)
  return { names: set, suggest: suggester(set) }
}

function checkRoute(route: Partly<RawRoute>, path: Path, around: Surroundings): Finding[] {
  return [
    ...checkNetwork(route, path, around),
    ...checkUrl(route.http, [...path, 'http'], ['http://', 'https://']),
    ...checkUrl(route.ws, [...path, 'ws'], ['ws://', 'wss://']),
    ...checkCapabilities(route, path, around),
    ...checkHeaders(route.headers, { file: 'routes.yaml', path: [...path, 'headers'] }, GATEWAY),
    ...checkMethods(route, path, around),
    ...checkTimeout('routes.yaml', [...path, 'timeout'], route.timeout),
  ]
}

function checkNetwork({ network }: Partly<RawRoute>, path: Path, { networks }: Surroundings): Finding[] {
  if (network === undefined || networks === null || networks.names.has(network)) return []
  return [
    finding(
      [...path, 'network'],
      `${show(network)} is not a network in networks.yaml`,
      networks.suggest(network),
    ),
  ]
}

function checkUrl(url: string | undefined, path: Path, schemes: readonly [string, string]): Finding[] {
  if (url === undefined) return []
  // The value itself is not shown: it may hold the operator's provider key.
  if (!URL.canParse(url) || !schemes.some(scheme => url.toLowerCase().startsWith(scheme)))
    return [finding(path, `the value is not a URL with ${schemes.join(' or ')}`)]
  if (!hasReadableUser(url))
    return [
      finding(
        path,
        'the user or password of the URL is not percent-encoded UTF-8',
        'write a % that belongs to it as %25',
      ),
    ]
  // RFC 6455, section 3: a WebSocket URL has no fragment, and none can be opened that has one.
  if (/^wss?:/i.test(url) && new URL(url).hash !== '')
    return [finding(path, 'a WebSocket URL has no part behind a #', 'write a # that belongs to it as %23')]
  return []
}

/** Whether user and password can be decoded, each by itself, as must be done to send them. */
function hasReadableUser(url: string): boolean {
  const { username, password } = new URL(url)
  try {
    decodeURIComponent(username)
    decodeURIComponent(password)
    return true
  } catch {
    return false
  }
}

function checkCapabilities(route: Partly<RawRoute>, path: Path, around: Surroundings): Finding[] {
  const { capabilities, allNeeds } = around
  return (route.capabilities ?? []).flatMap((word, index) => {
    const at = [...path, 'capabilities', index]
    if (word === 'ws') return [finding(at, '"ws" is not declared here', 'it follows from the ws URL')]
    if (word === undefined || capabilities === null || capabilities.names.has(word)) return []
    const hint = capabilities.suggest(word) ?? (allNeeds ? 'no rule needs it' : undefined)
    return hint === undefined ? [] : [finding(at, `${show(word)} is not a known capability`, hint)]
  })
}

function checkMethods(route: Partly<RawRoute>, path: Path, { methodsOf }: Surroundings): Finding[] {
  const known = route.network === undefined ? undefined : methodsOf?.(route.network)
  if (!known) return []
  return (['allow', 'deny'] as const).flatMap(list =>
    (route.methods?.[list] ?? []).flatMap((name, index) => {
      if (name === undefined || isKnown(name, known)) return []
      const message = `${show(name)} is not a method of ${route.network ?? ''}`
      return [finding([...path, 'methods', list, index], message, known.suggest(name))]
    }),
  )
}

function checkIds(routes: readonly (Partly<RawRoute> | undefined)[]): Finding[] {
  const owners = new Map<string, number>()
  return routes.flatMap((route, index) => {
    if (route?.id === undefined) return []
    const owner = owners.get(route.id)
    if (owner !== undefined)
      return [finding(['routes', index, 'id'], `routes[${owner}] has the id "${route.id}" already`)]
    owners.set(route.id, index)
    return []
  })
}

function finding(path: Path, message: string, hint?: string): Finding {
  return { file: 'routes.yaml', path, at: 'value', message, hint }
}
