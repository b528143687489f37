/** Accounts over HTTP. */
import { whyUnreachable } from '../management/alerts.ts'
import { LABELS, withoutNulls } from '../ports/labels.ts'
import type { AccountRecord } from '../ports/accounts.ts'
import { shownWebhook } from '../ports/alerts.ts'
import { FIELDS, limitOf } from './fields.ts'
import { operation } from './operation.ts'
import type { ApiParts } from './operation.ts'
import { makeCursor, readCursor } from './page.ts'
import { problem, problemOf } from './problem.ts'
import type { Problem } from './problem.ts'

/** What the operator may note. */
const NOTES = { externalId: FIELDS.externalIdOrNull, email: FIELDS.emailOrNull }

/** The operations on accounts. */
export const accountOperations = [
  operation({
    method: 'GET',
    path: '/v1/accounts',
    id: 'listAccounts',
    scope: 'accounts:read',
    reply: 'AccountPage',
    summary: 'Lists accounts in the order of their creation',
    query: {
      plan: FIELDS.text,
      status: FIELDS.status,
      externalId: FIELDS.externalId,
      email: FIELDS.email,
      label: FIELDS.label,
      limit: FIELDS.limit,
      cursor: FIELDS.cursor,
    },
    async run({ query }, { accounts }) {
      const { plan = null, status = null, externalId = null, email = null, label, cursor } = query
      const limit = limitOf(query.limit)
      const after = cursor === undefined ? null : readCursor(cursor, 'accounts')
      if (after === undefined) return noCursor()
      const wanted = {
        after,
        plan,
        status,
        externalId,
        email,
        label: label === undefined ? null : splitLabel(label),
      }
      // One more says whether another page follows.
      const found = await accounts.page({ ...wanted, limit: limit + 1 })
      const items = found.slice(0, limit)
      const last = found.length > limit ? items.at(-1)!.id : null
      return {
        json: { items: items.map(shownAccount), cursor: last === null ? null : makeCursor('accounts', last) },
      }
    },
  }),
  operation({
    method: 'POST',
    path: '/v1/accounts',
    id: 'createAccount',
    scope: 'accounts:write',
    reply: 'NewAccount',
    summary: 'Makes an account; its dashboard token is shown only now',
    status: 201,
    isOnce: true,
    body: {
      required: { name: FIELDS.name, plan: FIELDS.text },
      optional: { ...NOTES, labels: FIELDS.labels },
    },
    async run({ body, by }, { accounts, snapshot }) {
      const { name, plan, externalId = null, email = null, labels = {} } = body
      const fault = planFault(plan, snapshot())
      if (fault !== null) return fault
      const made = await accounts.create({ name, plan, externalId, email, labels: withoutNulls(labels) }, by)
      if (made === 'external_id_taken') return taken()
      if (made === 'other_request') return reused()
      const { account, dashboardToken } = made
      const location = `/v1/accounts/${account.id}`
      return { json: { ...shownAccount(account), dashboardToken }, location }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/accounts/{id}',
    id: 'getAccount',
    scope: 'accounts:read',
    reply: 'AccountState',
    summary:
      'Shows an account with its rate, what its quota has left, how many endpoints it has, and its webhook',
    async run({ id, by }, { accounts, alerts, manage }) {
      const account = await accounts.find(id)
      if (account === null) return noAccount()
      const url = (await alerts.webhook(id))?.url
      const reply = await manage('service_account', undefined, { account, by })
      if ('error' in reply) return problemOf(reply.error)
      const { quota, rate, endpoints } = (reply as { result: object }).result as Readonly<
        Record<string, unknown>
      >
      return { json: { ...shownAccount(account), quota, rate, endpoints, webhook: webhookOf(url) } }
    },
  }),
  operation({
    method: 'PATCH',
    path: '/v1/accounts/{id}',
    id: 'updateAccount',
    scope: 'accounts:write',
    reply: 'ChangedAccount',
    summary:
      'Changes an account: its plan, whether it is suspended, what is noted about it, and its webhook, whose secret is shown only now (JSON merge patch)',
    body: {
      optional: {
        ...NOTES,
        name: FIELDS.name,
        plan: FIELDS.text,
        status: FIELDS.status,
        labels: FIELDS.labelsPatch,
        webhook: FIELDS.webhookOrNull,
      },
    },
    async run({ id, body: { webhook, ...body }, by }, { accounts, alerts, snapshot }) {
      if ((await accounts.find(id)) === null) return noAccount()
      const fault = webhookFault(webhook ?? null, snapshot()) ?? planFault(body.plan, snapshot())
      if (fault !== null) return fault
      const after = await accounts.change(id, body, by)
      if (after === 'too_many_labels')
        return problem('invalid_params', `an account has at most ${LABELS.account.most} labels`)
      if (after === 'external_id_taken') return taken()
      if (after === null) return noAccount()
      const set = webhook === undefined ? undefined : await alerts.setWebhook(id, webhook, by)
      const url = set === undefined ? (await alerts.webhook(id))?.url : set?.url
      const secret = set === undefined || set === null ? {} : { webhookSecret: set.secret }
      return { json: { ...shownAccount(after), webhook: webhookOf(url), ...secret } }
    },
  }),
  operation({
    method: 'DELETE',
    path: '/v1/accounts/{id}',
    id: 'deleteAccount',
    scope: 'accounts:write',
    reply: null,
    summary:
      'Purges an account: its endpoints, keys and everything that is known about it; its usage stays under its id',
    status: 204,
    async run({ id, by }, { accounts }) {
      return (await accounts.purge(id, by)) ? { json: null } : noAccount()
    },
  }),
]

/** An account as the API shows it. */
export function shownAccount(account: AccountRecord) {
  const { id: accountId, name, plan, status, createdAt, externalId, email, labels } = account
  return { accountId, name, plan, status, createdAt, externalId, email, labels }
}

function webhookOf(url: string | undefined): string | null {
  return url === undefined ? null : shownWebhook(url)
}

/** That there is no such account. */
export function noAccount(): Problem {
  return problem('account_not_found', 'there is no such account')
}

/** That a cursor is not one of this list. */
export function noCursor(): Problem {
  return problem('invalid_params', 'cursor is not one of a page of this list')
}

/** That another request was sent under this Idempotency-Key. */
function reused(): Problem {
  return problem('idempotency_key_reused', 'another request was sent with this Idempotency-Key')
}

function taken(): Problem {
  return problem('external_id_taken', 'another account has this externalId')
}

function webhookFault(webhook: string | null, { gateway }: ReturnType<ApiParts['snapshot']>): Problem | null {
  const why = webhook === null ? null : whyUnreachable(webhook, gateway.alerts)
  return why === null ? null : problem('invalid_params', why)
}

function planFault(plan: string | undefined, { plans }: ReturnType<ApiParts['snapshot']>): Problem | null {
  if (plan === undefined) return null
  const offered = Object.keys(plans).filter(name => name !== 'public')
  if (offered.includes(plan)) return null
  return problem(
    'invalid_params',
    `plan must be one of ${offered.map(name => JSON.stringify(name)).join(', ')}`,
  )
}

function splitLabel(label: string): readonly [string, string] {
  const colon = label.indexOf(':')
  return [label.slice(0, colon), label.slice(colon + 1)]
}
