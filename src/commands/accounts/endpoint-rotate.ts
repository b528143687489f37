/** `tollgate endpoint rotate`: another key for an endpoint. */
import { OLD_KEYS } from '../../ports/endpoints.ts'
import { rotateKey } from '../../management/endpoints.ts'
import { withAccounts } from './accounts.ts'
import { fail, print, readArguments } from '../command.ts'
import type { Command } from '../command.ts'
import { urlLines } from './endpoint-urls.ts'
import { manage } from './manage.ts'
import { typed } from '../output/called-as.ts'
import { moment } from '../output/table.ts'

const OPTIONS = { overlap: 'string' } as const

interface Rotated {
  readonly endpointId: string
  readonly apiKey: string
  readonly chain: string
  readonly httpsUrl: string
  readonly wssUrl: string
  readonly oldKeyExpiresAt: number | null
}

export const rotate: Command = {
  summary: 'give an endpoint another key; the old one goes on for a while',
  options: OPTIONS,
  usage: `tollgate endpoint rotate <id> [--overlap 24h] [--config DIR] [--json]

Gives an endpoint another key. The old one goes on for --overlap (1h; 0s ends it at once, 30d is the most), but for calls
alone: it no longer manages endpoints nor signs in, and of more than ${OLD_KEYS} old keys the first to end ends now. Name,
restrictions and usage stay. A key that has leaked: --overlap 0s.`,

  run(args, io) {
    const { config, json, words, given } = readArguments(args, ['id'], OPTIONS)
    const endpointId = words[0]!
    return withAccounts({ config, json }, io, async (store, known) => {
      const endpoint = await store.endpoints.find(null, endpointId)
      const owner = endpoint === null ? null : await store.accounts.find(endpoint.accountId)
      if (owner === null) return fail(io, json, `there is no endpoint "${endpointId}"`)
      const [served, { dataDir }] = [await known.servedIfKnown(), known.gateway]
      const managed = await manage(rotateKey, { endpointId, ...given }, owner, { store, dataDir, served })
      if ('error' in managed) return fail(io, json, managed.error)
      const rotated = managed.result as Rotated
      const { apiKey, oldKeyExpiresAt, chain, httpsUrl, wssUrl } = rotated
      const lines = () => [
        ...urlLines({ chain, httpsUrl, wssUrl }, 10),
        `old key   ${oldKeyExpiresAt === null ? 'has ended' : `goes on until ${moment(oldKeyExpiresAt)}`}`,
        '',
        `export KEY=${apiKey}`,
      ]
      const list = typed(io, ['endpoint', 'list', '--account', owner.id], config)
      print(io, json, rotated, lines, `the key of ${endpointId} was rotated: "${list}" shows the new one`)
      return 0
    })
  },
}
