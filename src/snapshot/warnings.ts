/** What a valid configuration promises and cannot keep. */
import { coversTransactions } from '../config/sending/carries-transaction.ts'
import { NO_ROUTE } from '../config/kinds.ts'
import type { Kind } from '../config/kinds.ts'
import type { Problem } from '../config/problem.ts'
import type { MethodRow, Network, Snapshot } from './types.ts'

/** Finds the place of a path in a file. */
type Locate = (
  file: string,
  path: readonly (string | number)[],
) => { readonly line: number; readonly column: number }

/** Methods that no route can serve, for one and the same reason. */
interface Unserved {
  readonly kind: Kind
  /** What the routes lack, as the end of a sentence that names their networks. */
  readonly lack: (methods: ReadonlySet<string>) => string
  readonly networks: Network[]
  readonly methods: Set<string>
}

/** One warning for each network without a route, and one for each reason for which no route can serve methods. */
export function warningsOf(snapshot: Snapshot, locate: Locate): Problem[] {
  const networks = Object.values(snapshot.networks)
  const warning = (kind: Kind, { slug }: Network, message: string, hint?: string): Problem => {
    const path = ['networks', slug]
    const place = locate('networks.yaml', path)
    const what = { severity: 'warning', kind, message, ...(hint === undefined ? {} : { hint }) } as const
    return { file: 'networks.yaml', ...place, path: path.join('.'), ...what }
  }
  return [
    ...networks
      .filter(({ routes }) => routes.length === 0)
      .map(network => warning('no-route', network, 'no enabled route serves this network')),
    ...networks
      .filter(network => network.privateSends && !hasSends(network))
      .map(network =>
        warning(
          'private-without-sends',
          network,
          'it has a private route, and none of its methods is known to send a transaction',
          'write sends: true on the rows that do: their calls go to public routes now',
        ),
      ),
    ...unserved(networks).map(({ kind, lack, networks, methods }) =>
      warning(kind, networks[0]!, `no route of ${listed(networks.map(({ slug }) => slug))} ${lack(methods)}`),
    ),
  ]
}

/** Whether some row hands transactions to the network, or a pattern covers methods that are known to. */
function hasSends({ methods, patterns }: Network): boolean {
  const isPatternOfSends = ({ rule }: MethodRow): boolean => rule.sends || coversTransactions(rule.match)
  return Object.values(methods).some(({ rule }) => rule.sends) || patterns.some(isPatternOfSends)
}

function unserved(networks: readonly Network[]): Unserved[] {
  const groups = new Map<string, Unserved>()
  for (const network of networks)
    for (const { rule, unable } of network.routes.length === 0 ? [] : Object.values(network.methods)) {
      if (unable === null) continue
      const capability = unable.reason === 'capability_missing' ? unable.capability : null
      const kind = `${NO_ROUTE}${capability ?? 'denied'}` as const
      const group: Unserved = groups.get(kind) ?? {
        kind,
        lack: lackOf(capability),
        networks: [],
        methods: new Set(),
      }
      groups.set(kind, group)
      if (group.networks.at(-1) !== network) group.networks.push(network)
      group.methods.add(rule.match)
    }
  return [...groups.values()]
}

function lackOf(capability: string | null): Unserved['lack'] {
  if (capability === null) return methods => `is allowed to serve ${named(methods)}`
  const what = capability === 'ws' ? 'has a ws URL' : `has the capability "${capability}"`
  return methods => `${what}, which ${named(methods)} ${methods.size === 1 ? 'needs' : 'need'}`
}

function named(methods: ReadonlySet<string>): string {
  const names = [...methods]
  return names.length === 1 ? listed(names) : `${names.length} methods (${listed(names)})`
}

function listed(names: readonly string[]): string {
  return names.length <= 3 ? names.join(', ') : `${names.slice(0, 2).join(', ')} and ${names.length - 2} more`
}
