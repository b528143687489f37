/** Usage, as the ledger tells it. */
import { computed } from '@preact/signals'
import { service } from '../api/service.ts'
import type { Methods, UsageRow } from '../api/types.ts'
import { route } from '../route.ts'
import { choiceOf } from '../usage/choice.ts'
import type { Choice } from '../usage/choice.ts'
import { isTime } from '../usage/measures.ts'
import { COLOURS } from '../usage/series.ts'
import { spanBefore } from '../usage/span.ts'
import type { Span } from '../usage/span.ts'
import { resource } from './resource.ts'

const HOUR = 3600
const DAY = 86_400
/** Groups that a table has at first; all beyond are one, until they are asked for. */
const MOST_GROUPS = 500

const now = (): number => Math.floor(Date.now() / 1000)

type Asked = Methods['service_usage']['takes']
const rowsOf = async (asked: Asked): Promise<readonly UsageRow[]> =>
  (await service('service_usage', asked)).rows

/** Today in UTC by endpoint, with refusals by reason. */
export const today = resource(() => {
  const at = now()
  return rowsOf({ by: 'hour', from: at - (at % DAY), to: at + 1, groupBy: ['endpoint'], detail: true })
})

/** The last 24 hours and the 24 before them, by the hour: of the account, or of one endpoint. */
async function twoDays(endpointId = ''): Promise<{ to: number; rows: readonly UsageRow[] }> {
  const to = now() - (now() % HOUR) + HOUR
  const of = endpointId === '' ? {} : { endpointId }
  const asked = { by: 'hour', from: to - 2 * DAY, to, groupBy: ['time'], detail: true, ...of } as const
  return { to, rows: await rowsOf(asked) }
}

/** Those of the account. */
export const lastDays = resource(() => twoDays())

/** Those of the endpoint whose page is shown. */
export const endpointDays = resource(() => twoDays(route.value.id))

/** What the usage page is asked to show. */
export const choice = computed(() => choiceOf(route.value.query, now()))

/** What it shows: the groups over time and in all, and the same of the span before. */
export interface Usage {
  readonly choice: Choice
  readonly overTime: readonly UsageRow[]
  readonly groups: readonly UsageRow[]
  readonly before: {
    readonly span: Span
    readonly overTime: readonly UsageRow[]
    readonly groups: readonly UsageRow[]
  } | null
}

/** Milliseconds for which long spans will do, which take the gateway longer and move less. */
const LONG = 5 * 60_000

/** For how long a value will do: as long as the URL asks for the same, until an hour or a day more has to be shown. */
function keep({ choice }: Usage): number {
  const asked = choiceOf(route.value.query, now())
  if (JSON.stringify(asked) !== JSON.stringify(choice)) return 0
  const { from, to } = choice.span
  // Other gateways may report what they served a little later.
  if (to + HOUR <= now()) return Infinity
  return to - from > 7 * DAY || choice.by === 'day' ? LONG : 0
}

export const usage = resource(async (): Promise<Usage> => {
  // The span moves on with the clock, also while the page is open.
  const choice = choiceOf(route.value.query, now())
  const { split, measure, compare, range, span, everyGroup } = choice
  const groupsOf = (of: Span) => {
    const query = groupedBy(choice, of, [split])
    return everyGroup ? everyPage(query) : rowsOf({ ...query, top: MOST_GROUPS })
  }
  const overTimeOf = (of: Span, columns: Asked['groupBy'] & {}) =>
    rowsOf({
      ...asked(choice, of),
      groupBy: columns,
      ...(columns.includes('time') && columns.length > 1 ? { top: COLOURS + 1 } : {}),
      ...(isTime(measure) ? { detail: true } : {}),
    })
  const [overTime, groups] = [await overTimeOf(span, ['time', split]), await groupsOf(span)]
  if (!compare) return { choice, overTime, groups, before: null }
  const other = spanBefore(range, span)
  const columns = split === 'reason' ? (['time', 'reason'] as const) : (['time'] as const)
  const before = { span: other, overTime: await overTimeOf(other, columns), groups: await groupsOf(other) }
  return { choice, overTime, groups, before }
}, keep)

/** Every row of what the usage page shows, page by page; those of the span before come first, where that is shown too. */
export async function everyRow(): Promise<readonly UsageRow[]> {
  const { split, span, compare, range } = choice.peek()
  const spans = compare ? [spanBefore(range, span), span] : [span]
  const rows: UsageRow[] = []
  for (const of of spans) rows.push(...(await everyPage(groupedBy(choice.peek(), of, ['time', split]))))
  return rows
}

async function everyPage(query: Asked): Promise<readonly UsageRow[]> {
  const rows: UsageRow[] = []
  let cursor: string | undefined
  do {
    const page = await service('service_usage', cursor === undefined ? query : { ...query, cursor })
    rows.push(...page.rows)
    cursor = page.cursor
  } while (cursor !== undefined)
  return rows
}

/** Of refusals by reason no details are known. */
function groupedBy(choice: Choice, of: Span, groupBy: Asked['groupBy'] & {}): Asked {
  return { ...asked(choice, of), groupBy, ...(choice.split === 'reason' ? {} : { detail: true }) }
}

function asked({ by, endpointId, network, method }: Choice, { from, to }: Span): Asked {
  return {
    by,
    from,
    to,
    ...(endpointId === '' ? {} : { endpointId }),
    ...(network === '' ? {} : { network }),
    ...(method === '' ? {} : { method }),
  }
}
