/** `tollgate nodes`, `tollgate node forget`: the gateways that share a PostgreSQL. */
import type { SeenNode } from '../../stores/postgres/usage/nodes.ts'
import { fail, print, readArguments, UsageError } from '../command.ts'
import type { Command } from '../command.ts'
import { group } from '../group.ts'
import { table } from '../output/table.ts'
import { withFleet } from './fleet.ts'

/** Seconds for which gateways may serve different configurations: an edit reaches one behind the other. */
const TO_AGREE = 60
/** Seconds behind which a gateway that was not seen does not count. */
const GONE = 60

export const nodes: Command = {
  usage: `tollgate nodes [--config DIR] [--json]

Lists the gateways that share the PostgreSQL of gateway.yaml: when each was last seen, which configuration it serves, how
far its usage and its accounts are behind, and its clock. Warns of those that have one name. One that was not seen for
15 s is superseded where another of its name has started since, as when a machine has lost its journal. Exits with 1
when gateways that are there have served different configurations, gateway.yaml apart, for more than ${TO_AGREE} s.`,

  async run(args, io) {
    const { config, json } = readArguments(args, [])
    const found = await withFleet(config, io, async ({ postgres }) => {
      const { listNodes } = await import('../../stores/postgres/usage/nodes.ts')
      return listNodes(postgres)
    })
    print(io, json, found.map(shownNode), () =>
      found.length === 0
        ? ['no gateway has reported to this PostgreSQL']
        : table(
            [
              'NAME',
              'SEEN',
              'CONFIGURATION',
              'SHARED',
              'USAGE BEHIND',
              'ACCOUNTS BEHIND',
              'CLOCK',
              'FENCED',
              'STATE',
              'ID',
            ],
            found.map(each => [
              each.name,
              `${seconds(each.age)} ago`,
              each.version,
              each.sharedVersion,
              seconds(each.info.spoolLagSeconds),
              seconds(each.info.accountsAgeSeconds),
              seconds(each.info.clockSkewSeconds),
              each.info.fenced ? 'yes' : 'no',
              each.supersededBy === null ? '-' : 'superseded',
              each.id,
            ]),
          ),
    )
    for (const name of namedTwice(found))
      io.err(
        `tollgate: several gateways that are there are called ${name}: give each a node.name of its own in gateway.yaml`,
      )
    const superseded = found.filter(({ supersededBy }) => supersededBy !== null).length
    if (superseded > 0)
      io.err(
        `tollgate: ${superseded} of these ${superseded === 1 ? 'is' : 'are'} superseded: one of the same name has started since; "tollgate node forget --superseded" removes them from this list`,
      )
    if (!differ(found)) return 0
    io.err('tollgate: the gateways serve different configurations')
    return 1
  },
}

function shownNode({ name, id, version, sharedVersion, seenAt, info, supersededBy }: SeenNode): object {
  const { spoolLagSeconds, accountsAgeSeconds, clockSkewSeconds, fenced } = info
  return {
    name,
    id,
    version,
    sharedVersion,
    seenAt: Math.floor(seenAt),
    spoolLagSeconds,
    accountsAgeSeconds,
    clockSkewSeconds,
    fenced,
    supersededBy,
  }
}

function seconds(value: number | null): string {
  return value === null ? '-' : `${Math.round(value * 10) / 10} s`
}

/** Names that several have of those that are there. */
function namedTwice(found: readonly SeenNode[]): readonly string[] {
  const names = found.filter(({ age }) => age < GONE).map(({ name }) => name)
  return [...new Set(names.filter((name, i) => names.indexOf(name) !== i))]
}

/** Whether those that are there have differed for too long: one has the other configuration since its last load. */
function differ(found: readonly SeenNode[]): boolean {
  const there = found.filter(({ age }) => age < GONE)
  if (new Set(there.map(({ sharedVersion }) => sharedVersion)).size < 2) return false
  const loaded = Math.max(...there.map(({ info, seenAt }) => info.reload?.at ?? seenAt))
  const now = Math.max(...there.map(({ seenAt, age }) => seenAt + age))
  return now - loaded > TO_AGREE
}

const OPTIONS = { superseded: 'boolean' } as const

const forget: Command = {
  options: OPTIONS,
  summary: 'no longer list a gateway that does not come back',
  usage: `tollgate node forget (<id> | --superseded) [--config DIR] [--json]

Says that a gateway does not come back: "tollgate nodes" no longer lists it. First send what its data directory still
holds, with "tollgate spool --dir". One that does come back is listed again, and reports what it had not.

  --superseded   all of whose name another one has started since they were last seen`,

  async run(args, io) {
    const { config, json, words, given } = readArguments(args, ['id?'], OPTIONS)
    const [id] = words
    const isAll = given['superseded'] === true
    if ((id === undefined) !== isAll) throw new UsageError('give an id or --superseded')
    return withFleet(config, io, async ({ postgres }) => {
      const { forgetNode, forgetSuperseded } = await import('../../stores/postgres/usage/nodes.ts')
      if (id !== undefined) {
        if (!(await forgetNode(postgres, id)))
          return fail(io, json, `there is no node "${id}"; "tollgate nodes" lists them`)
        print(io, json, { forgotten: id }, () => [`${id} is forgotten`])
        return 0
      }
      const forgotten = await forgetSuperseded(postgres)
      print(io, json, { forgotten }, () =>
        forgotten.length === 0 ? ['no node is superseded'] : forgotten.map(each => `${each} is forgotten`),
      )
      return 0
    })
  },
}

export const node: Command = group('node', { forget })
