/** What a valid configuration promises and cannot keep. */
import type { Problem } from '../config/problem.ts'
import type { MethodRow, Network, Snapshot } from './types.ts'

/** Finds the place of a path in a file. */
type Locate = (
  file: string,
  path: readonly (string | number)[],
) => { readonly line: number; readonly column: number }

/** One warning per network that has methods which none of its routes can serve. */
export function warningsOf(snapshot: Snapshot, locate: Locate): Problem[] {
  return Object.values(snapshot.networks).flatMap(network => {
    const unserved = Object.values(network.methods).filter(row => row.unable !== null)
    if (unserved.length === 0) return []
    const path = ['networks', network.slug]
    return [
      {
        file: 'networks.yaml',
        ...locate('networks.yaml', path),
        path: path.join('.'),
        severity: 'warning' as const,
        message:
          network.routes.length === 0 ? 'no enabled route serves this network' : sentence(network, unserved),
      },
    ]
  })
}

function sentence(network: Network, unserved: readonly MethodRow[]): string {
  const groups = new Map<string, string[]>()
  for (const { rule, unable } of unserved) {
    const why = unable?.reason === 'capability_missing' ? `needs ${unable.capability}` : 'allowed by no route'
    groups.set(why, [...(groups.get(why) ?? []), rule.match])
  }
  const parts = [...groups].map(([why, names]) => `${why}: ${listed(names)}`)
  const count = unserved.length === 1 ? '1 method' : `${unserved.length} methods`
  return `no route of ${network.slug} can serve ${count} (${parts.join('; ')})`
}

function listed(names: readonly string[]): string {
  return names.length <= 3 ? names.join(', ') : `${names.slice(0, 2).join(', ')} and ${names.length - 2} more`
}
