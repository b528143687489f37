/** `tollgate endpoint label`: shows and changes the labels of an endpoint. */
import { LABELS } from '../../ports/labels.ts'
import type { Labels } from '../../ports/labels.ts'
import type { AccountStore } from '../../stores/sqlite/accounts/store.ts'
import { updateEndpoint } from '../../management/endpoints.ts'
import { withAccounts } from './accounts.ts'
import { CHANGED, fail, print, readArguments } from '../command.ts'
import type { Command } from '../command.ts'
import type { Known } from '../known.ts'
import { labelChange, shownLabels } from './label-options.ts'
import { manage } from './manage.ts'

const OPTIONS = { set: 'strings', remove: 'strings' } as const

export const label: Command = {
  summary: 'set labels of an endpoint, or take them away',
  options: OPTIONS,
  usage: `tollgate endpoint label <id> [--set NAME=VALUE …] [--remove NAME …] [--config DIR] [--json]

Adds, replaces and takes away labels, by which the owner of the endpoint finds and filters it in the dashboard; those that
are not named stay. An endpoint has at most ${LABELS.endpoint.most}. Without options it shows them.`,

  run(args, io) {
    const { config, json, words, lists } = readArguments(args, ['id'], OPTIONS)
    const [endpointId, change] = [words[0]!, labelChange(lists)]
    const isQuery = Object.keys(change).length === 0
    const work = async (store: AccountStore, known: Known): Promise<number> => {
      const endpoint = await store.endpoints.find(null, endpointId)
      const owner = endpoint === null ? null : await store.accounts.find(endpoint.accountId)
      if (endpoint === null || owner === null) return fail(io, json, `there is no endpoint "${endpointId}"`)
      if (isQuery) return report(endpoint.labels)
      const [served, { dataDir }] = [await known.servedIfKnown(), known.gateway]
      const params = { endpointId, labels: change }
      const managed = await manage(updateEndpoint, params, owner, { store, dataDir, served })
      if ('error' in managed) return fail(io, json, managed.error)
      return report((managed.result as { labels: Labels }).labels)
    }
    const report = (labels: Labels): number => {
      const lines = () => [`${endpointId}: ${shownLabels(labels)}`]
      print(io, json, { endpointId, labels }, lines, isQuery ? undefined : CHANGED)
      return 0
    }
    return withAccounts({ config, json }, io, work, isQuery ? { reads: true } : {})
  },
}
