/** `tollgate account show`: one account, with its quota and its endpoints. */
import { shownWebhook } from '../../ports/alerts.ts'
import { ENDPOINT_LIMIT } from '../../ports/endpoints.ts'
import type { EndpointWithKey } from '../../ports/endpoints.ts'
import { fail, print, readArguments } from '../command.ts'
import type { Command } from '../command.ts'
import { moment, table } from '../output/table.ts'
import { noAccount, withAccounts } from './accounts.ts'
import { ownerOf } from './owner.ts'
import { standingLines, standingOf } from './standing.ts'

export const show: Command = {
  summary: 'show an account: plan, quota, endpoints, last use',
  usage: `tollgate account show <id | external id | endpoint | key> [--config DIR] [--json]

Shows an account: its plan and status, what it has used of its quota and when that resets, what is noted of it, where
its webhook leads, and its endpoints with the hour of their last call.`,

  run(args, io) {
    const { config, json, words } = readArguments(args, ['account'])
    const word = words[0]!
    const work = withAccounts(
      { config, json },
      io,
      async (store, known) => {
        const owner = await ownerOf(word, store)
        const account = owner === null ? null : await store.accounts.find(owner.account.accountId)
        if (account === null) return fail(io, json, await noAccount(store, word))
        const standing = await standingOf(account, known, io)
        const endpoints = await store.endpoints.list(account.id)
        const url = (await store.alerts.webhook(account.id))?.url
        const webhook = url === undefined ? null : shownWebhook(url)
        const { id, name, plan, status, createdAt, externalId, email, labels } = account
        const shown = {
          accountId: id,
          name,
          plan,
          status,
          createdAt,
          externalId,
          email,
          labels,
          ...standing,
          webhook,
          endpoints: endpoints.map(shownEndpoint),
        }
        const notes = [
          ...(externalId === null ? [] : [`external  ${externalId}`]),
          ...(email === null ? [] : [`email     ${email}`]),
          ...(webhook === null ? [] : [`webhook   ${webhook}`]),
          ...Object.entries(labels).map(([label, value]) => `label     ${label}=${value}`),
        ]
        print(io, json, shown, () => [
          `account   ${id} (${name}), ${status} since ${moment(createdAt)}`.replace(' since ', ', made '),
          `plan      ${plan}`,
          ...standingLines(standing),
          ...notes,
          `endpoints ${endpoints.length} of ${ENDPOINT_LIMIT}`,
          ...(endpoints.length === 0 ? [] : ['', ...endpointTable(endpoints)]),
        ])
        return 0
      },
      { reads: true },
    )
    return work
  },
}

function shownEndpoint({ id, name, network, status, ...others }: EndpointWithKey) {
  const { dailyLimit, lastUsedAt, expiresAt } = others
  return { endpointId: id, name, network, status, dailyLimit, lastUsedAt, expiresAt }
}

function endpointTable(endpoints: readonly EndpointWithKey[]): string[] {
  const at = (time: number | null): string => (time === null ? '-' : moment(time))
  return table(
    ['ENDPOINT', 'NETWORK', 'NAME', 'STATUS', 'DAILY LIMIT', 'LAST USED', 'EXPIRES'],
    endpoints.map(({ id, network, name, status, dailyLimit, lastUsedAt, expiresAt }) => [
      id,
      network,
      name,
      status,
      dailyLimit ?? '-',
      at(lastUsedAt),
      at(expiresAt),
    ]),
  )
}
