/** One caller that `explain` is asked about: what holds of it before its call is looked at. */
import { requestUnits } from '../../config/words/units.ts'
import type { Arguments, Io } from '../command.ts'
import { UsageError } from '../command.ts'
import { withAccounts } from '../accounts/accounts.ts'
import { ownerOf } from '../accounts/owner.ts'
import { standingLines, standingOf, todayOf, usedText } from '../accounts/standing.ts'
import type { Used } from '../accounts/standing.ts'
import type { Reason } from '../../refusal/table.ts'
import { moment } from '../output/table.ts'

/** What is shown of it. */
export interface ExplainedCaller {
  readonly plan: string
  /** Why every call of it is refused now; null where none is. */
  readonly refusal: Reason | null
  readonly shown: object
  readonly lines: readonly string[]
}

/** The caller that `--key` or `--endpoint` names; null where neither is given, a sentence where there is none. */
export async function callerOf(
  given: Arguments['given'],
  network: string,
  args: Pick<Arguments, 'config' | 'json'>,
  io: Io,
): Promise<ExplainedCaller | null | string> {
  const named = [given['key'], given['endpoint'], given['plan']].filter(each => each !== undefined)
  if (named.length > 1) throw new UsageError('give one of --plan, --key and --endpoint')
  const word = given['key'] ?? given['endpoint']
  if (typeof word !== 'string') return null
  return withAccounts(
    args,
    io,
    async (store, known) => {
      const owner = await ownerOf(word, store)
      const account = owner === null ? null : await store.accounts.find(owner.account.accountId)
      const endpoint =
        owner?.endpoint === null || owner === null
          ? null
          : await store.endpoints.find(null, owner.endpoint.endpointId)
      if (account === null || endpoint === null)
        return 'there is no such endpoint or key; it may have been deleted'
      const standing = await standingOf(account, known, io)
      const today = await todayOf(endpoint, known, io)
      const now = Date.now() / 1000
      const refusal =
        account.status !== 'active'
          ? 'account_suspended'
          : endpoint.status !== 'active'
            ? 'endpoint_inactive'
            : endpoint.network !== network
              ? 'wrong_network'
              : endpoint.expiresAt !== null && endpoint.expiresAt <= now
                ? 'invalid_key'
                : isUsedUp('quota' in standing ? standing.quota : null) || isUsedUp(today)
                  ? 'quota_exhausted'
                  : null
      const { allowedIps, allowedOrigins, perSecond, dailyLimit, expiresAt } = endpoint
      const restrictions = { allowedIps, allowedOrigins, perSecond, dailyLimit, expiresAt }
      const { id: accountId, name, plan, status } = account
      return {
        plan,
        refusal,
        shown: {
          accountId,
          name,
          plan,
          status,
          endpointId: endpoint.id,
          endpointStatus: endpoint.status,
          network: endpoint.network,
          restrictions,
          ...standing,
          today,
          refusal,
        },
        lines: [
          `caller    endpoint ${endpoint.id} (${endpoint.name}, on ${endpoint.network}, ${endpoint.status}) of account ${accountId} (${name}, plan ${plan}, ${status})`,
          `allowed   ${restrictionText(restrictions)}`,
          ...standingLines(standing),
          ...(today === null ? [] : [`today     ${usedText(today)}: the endpoint's daily limit`]),
          ...(refusal === null ? [] : [`refused   every call of it, with ${refusal}`]),
          '',
        ],
      }
    },
    { reads: true },
  )
}

function isUsedUp(quota: Used | null): boolean {
  return quota !== null && quota.used >= quota.requests
}

function restrictionText({
  allowedIps,
  allowedOrigins,
  perSecond,
  dailyLimit,
  expiresAt,
}: {
  readonly allowedIps: readonly string[] | null
  readonly allowedOrigins: readonly string[] | null
  readonly perSecond: number | null
  readonly dailyLimit: number | null
  readonly expiresAt: number | null
}): string {
  const parts = [
    allowedIps === null ? 'any address' : `addresses ${allowedIps.join(', ')}`,
    allowedOrigins === null ? 'any origin' : `origins ${allowedOrigins.join(', ')}`,
    ...(perSecond === null ? [] : [`${requestUnits(perSecond)} per second of its own`]),
    ...(dailyLimit === null ? [] : [`${requestUnits(dailyLimit)} a day`]),
    ...(expiresAt === null ? [] : [`until ${moment(expiresAt)}`]),
  ]
  return parts.join('; ')
}
