/** `tollgate endpoint limit`: what an endpoint may use in a day. */
import { requestUnits } from '../../config/words/units.ts'
import { updateEndpoint } from '../../management/endpoints.ts'
import { withAccounts } from './accounts.ts'
import { CHANGED, fail, print, readArguments, UsageError } from '../command.ts'
import type { Command } from '../command.ts'
import { manage } from './manage.ts'

const OPTIONS = { daily: 'string' } as const

export const limit: Command = {
  summary: 'limit what an endpoint may use in a day',
  options: OPTIONS,
  usage: `tollgate endpoint limit <id> --daily N|none [--config DIR] [--json]

Limits the request units that an endpoint may use in a calendar day in UTC, within the quota of its account. Calls
beyond it are refused with quota_exhausted until midnight. What the endpoint has used today counts. --daily none lifts
the limit.`,

  run(args, io) {
    const { config, json, words, given } = readArguments(args, ['id'], OPTIONS)
    const [endpointId, dailyLimit] = [words[0]!, limitOf(given['daily'])]
    return withAccounts({ config, json }, io, async (store, known) => {
      const endpoint = await store.endpoints.find(null, endpointId)
      const owner = endpoint === null ? null : await store.accounts.find(endpoint.accountId)
      if (owner === null) return fail(io, json, `there is no endpoint "${endpointId}"`)
      const [served, { dataDir }] = [await known.servedIfKnown(), known.gateway]
      const params = { endpointId, dailyLimit }
      const managed = await manage(updateEndpoint, params, owner, { store, dataDir, served })
      if ('error' in managed) return fail(io, json, managed.error)
      const said = dailyLimit === null ? 'no daily limit' : `${requestUnits(dailyLimit)} a day`
      print(io, json, managed.result, () => [`${endpointId}: ${said}`], CHANGED)
      return 0
    })
  },
}

function limitOf(daily: string | boolean | undefined): number | null {
  if (daily === 'none') return null
  const isNumber =
    typeof daily === 'string' && /^[1-9]\d*$/.test(daily) && Number.isSafeInteger(Number(daily))
  if (!isNumber) throw new UsageError('--daily must be a whole number of request units, at least 1, or none')
  return Number(daily)
}
