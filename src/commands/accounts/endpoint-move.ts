/** `tollgate endpoint move`: endpoints of a network that was renamed or removed find another. */
import { suggester } from '../../config/words/suggest.ts'
import { speakAlike } from '../../families/families.ts'
import type { Served } from '../../http/admin/served.ts'
import { findNetwork } from '../../management/urls.ts'
import { noAccount, withAccounts } from './accounts.ts'
import { CHANGED, fail, print, readArguments, UsageError } from '../command.ts'
import type { Command } from '../command.ts'
import type { Known } from '../known.ts'

const OPTIONS = { from: 'string', to: 'string', account: 'string' } as const

export const move: Command = {
  summary: 'put the endpoints of a network on another, keys and all',
  options: OPTIONS,
  usage: `tollgate endpoint move --from SLUG --to SLUG [--account ID] [--config DIR] [--json]

Puts the endpoints of a network on another one, with their keys, names and restrictions, and says how many they were: for
a network that was renamed or removed in networks.yaml. --to has to be configured; while --from still is, both have to be
of one family. --account moves those of one account only. Usage so far stays under the network that it was on.`,

  run(args, io) {
    const { config, json, given } = readArguments(args, [], OPTIONS)
    const { from, to, account } = given
    if (typeof from !== 'string') throw new UsageError('--from is missing')
    if (typeof to !== 'string') throw new UsageError('--to is missing')
    if (from === to) throw new UsageError('--from and --to are the same network')
    const accountId = typeof account === 'string' ? account : null
    return withAccounts({ config, json }, io, async (store, known) => {
      const served = await known.served()
      const fault = await faultOf(from, to, served, known)
      if (fault !== null) return fail(io, json, fault)
      if (accountId !== null && (await store.accounts.find(accountId)) === null)
        return fail(io, json, await noAccount(store, accountId))
      const moved = await store.endpoints.move(from, to, accountId)
      const of = accountId === null ? '' : ` of ${accountId}`
      if (moved === 0) return fail(io, json, nothingOn(from, of, store.inUse.networks()))
      const lines = () => [
        `${moved} ${moved === 1 ? 'endpoint' : 'endpoints'}${of} moved from ${from} to ${to}`,
      ]
      print(io, json, { from, to, moved }, lines, CHANGED)
      return 0
    })
  },
}

/** Why nothing can be moved; null when it can. Of a network that is no longer configured the family is not known. */
async function faultOf(from: string, to: string, { networks }: Served, known: Known): Promise<string | null> {
  const [there, here] = [findNetwork(networks, from), findNetwork(networks, to)]
  if (here === undefined) return known.whyNot('network', to, Object.keys(networks))
  if (there !== undefined && !speakAlike(there, here))
    return `${from} is of the family ${there.family} and ${to} of ${here.family}: their calls are not the same`
  return null
}

/** That there was nothing to move; which network was meant where `from` is a slip of one that endpoints are on. */
function nothingOn(from: string, of: string, used: readonly string[]): string {
  const hint = used.includes(from) ? undefined : suggester(used)(from)
  return `there is no endpoint${of} on "${from}"${hint === undefined ? '' : `; ${hint}`}`
}
