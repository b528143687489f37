/** Usage over HTTP: of one account, or of all. */
import { cursor, flag, groupByAny, oneOf, top } from '../management/checks.ts'
import { readUsage } from '../management/usage.ts'
import { COLUMNS } from '../ports/ledger.ts'
import type { Column } from '../ports/ledger.ts'
import { FIELDS } from './fields.ts'
import type { Field } from './fields.ts'
import { operation } from './operation.ts'
import { problem, problemOf } from './problem.ts'

const string = { type: 'string' }
const by: Field<'hour' | 'day'> = {
  schema: { ...string, enum: ['hour', 'day'], default: 'day' },
  check: oneOf('hour', 'day'),
}
const groupBy: Field<readonly Column[]> = {
  schema: {
    ...string,
    description: `what rows are summed by: any of ${COLUMNS.join(', ')}, separated by commas. Default: time,account,endpoint,network,method`,
    examples: ['account', 'time,network'],
  },
  check: value =>
    groupByAny(typeof value === 'string' ? value.split(',').filter(word => word !== '') : value),
}
const topField: Field<number> = {
  schema: {
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    description: 'the largest groups, and one row for the others',
  },
  check: value => top(typeof value === 'string' && /^\d{1,4}$/.test(value) ? Number(value) : value),
}
const detail: Field<boolean> = {
  schema: {
    type: 'boolean',
    default: false,
    description: 'with bytesOut, upstreamMs, refusalsByReason and latency',
  },
  check: value => flag(value === 'true' ? true : value === 'false' ? false : value),
}

/** The operation on usage. */
export const usageOperations = [
  operation({
    method: 'GET',
    path: '/v1/usage',
    id: 'getUsage',
    scope: 'usage:read',
    reply: 'UsagePage',
    summary:
      'Sums of what was used, from `from` to before `to`, of one account or of all; deleted endpoints included. Usage is kept by the hour: the hours in which `from` and `to` fall count as a whole, and with `time` in `groupBy` the hours or days of `by`: a row holds all of the one that it is named for, and `from` and `to` of the reply are those of its rows. Ask for whole steps to add replies up',
    query: {
      from: FIELDS.time,
      to: FIELDS.time,
      by,
      groupBy,
      account: FIELDS.text,
      endpoint: FIELDS.text,
      network: FIELDS.text,
      method: FIELDS.text,
      detail,
      top: topField,
      cursor: { schema: { ...string, description: 'the cursor of the page before' }, check: cursor },
    },
    async run({ query }, { accounts, usage }) {
      const { account = null, endpoint, network = null, method = null, ...rest } = query
      if (account !== null && (await accounts.find(account)) === null)
        return problem('account_not_found', 'there is no such account')
      const asked = {
        ...rest,
        by: rest.by ?? ('day' as const),
        groupBy: rest.groupBy ?? COLUMNS.filter(column => column !== 'reason'),
        ...(endpoint === undefined ? {} : { endpointId: endpoint }),
      }
      const now = Math.floor(Date.now() / 1000)
      const reply = await readUsage(asked, { accountId: account, network, method }, { usage, now: () => now })
      if ('error' in reply) return problemOf(reply.error)
      return 'json' in reply ? { text: `${reply.json}\n` } : { json: reply.result }
    },
  }),
]
