/** `tollgate cache …`: what the running gateway keeps of answers. */
import { findGateway, gatewayAt } from '../../http/admin/find-gateway.ts'
import { adminOption } from '../admin-option.ts'
import { fail, print, readArguments, UsageError } from '../command.ts'
import type { Command } from '../command.ts'
import { group } from '../group.ts'
import { settingsOf } from '../reload.ts'

/** Milliseconds that the gateway gets. */
const PATIENCE = 10_000

const OPTIONS = { network: 'string', route: 'string', method: 'string', admin: 'string' } as const
const NAMES = ['network', 'route', 'method'] as const

const purge: Command = {
  summary: 'drop kept answers, of a network, a route or a method',
  options: OPTIONS,
  usage: `tollgate cache purge [--network N] [--route R] [--method M] [--admin HOST:PORT] [--config DIR] [--json]

Drops the answers that the running gateway keeps, in all of its workers, and says how many: those that a route has given,
say, once it is known to have given wrong ones. At least one of --network, --route and --method; with several, what is
all of them. Nothing that was asked of a node before is kept afterwards.

  --admin  where its admin listener is, after an edit of both admin and dataDir`,

  async run(args, io) {
    const { config, json, given } = readArguments(args, [], OPTIONS)
    const admin = adminOption(given['admin'])
    const which = Object.fromEntries(
      NAMES.flatMap(name => (typeof given[name] === 'string' ? [[name, given[name]]] : [])),
    )
    if (Object.keys(which).length === 0)
      throw new UsageError('say what to drop: --network, --route or --method')
    const sought = await (admin === null
      ? findGateway(config, await settingsOf(config, io))
      : gatewayAt(admin, config))
    if ('none' in sought) return fail(io, json, sought.none)
    const answer = await ask(sought.gateway.admin, which)
    if ('error' in answer) return fail(io, json, answer.error)
    print(io, json, answer, () => [
      `${answer.purged} ${answer.purged === 1 ? 'answer was' : 'answers were'} dropped`,
    ])
    return 0
  },
}

export const cache = group('cache', { purge })

async function ask(
  admin: string,
  which: object,
): Promise<{ readonly purged: number } | { readonly error: string }> {
  try {
    const response = await fetch(`http://${admin}/cache/purge`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(which),
      signal: AbortSignal.timeout(PATIENCE),
    })
    const answer = (await response.json()) as { readonly purged?: number; readonly error?: string }
    if (answer.error !== undefined) return { error: answer.error }
    return answer.purged === undefined ? { error: NOTHING } : { purged: answer.purged }
  } catch {
    return { error: NOTHING }
  }
}

const NOTHING = 'the running gateway did not answer'
