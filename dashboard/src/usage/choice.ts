/** What the usage page is asked to show: all of it is in the URL, so that a view can be kept and sent. */
import type { Query } from '../address.ts'
import { MEASURES } from './measures.ts'
import type { Measure } from './measures.ts'
import { fits, RANGES, spanOf, usualStep, wholeSteps } from './span.ts'
import type { Range, Span, Step } from './span.ts'

/** What usage can be split by, the usual one first. */
export const SPLITS = [
  ['endpoint', 'by endpoint'],
  ['method', 'by method'],
  ['network', 'by network'],
  ['reason', 'by reason of refusal'],
] as const
export type Split = (typeof SPLITS)[number][0]

/** The state of the page. */
export interface Choice {
  readonly range: Range
  readonly span: Span
  readonly by: Step
  readonly split: Split
  readonly measure: Measure
  /** Only these; empty for all. */
  readonly endpointId: string
  readonly network: string
  readonly method: string
  /** Whether the span before is shown, too. */
  readonly compare: boolean
  /** Whether the table has every group, instead of the largest and one row for the others. */
  readonly everyGroup: boolean
}

/** Reads the state; what makes no sense is as usual. `now` in Unix seconds. */
export function choiceOf(query: Query, now: number): Choice {
  const known = RANGES.find(([range]) => range === query['range'])?.[0]
  const range = known ?? (query['from'] === undefined ? '24h' : 'custom')
  const spanBy = (by?: Step): Span => spanOf(range, now, query['from'], query['to'], by)
  const span = spanBy()
  const split = SPLITS.find(([split]) => split === query['split'])?.[0] ?? 'endpoint'
  const measure = MEASURES.find(measure => measure === query['show']) ?? 'requests'
  const wish = query['by'] === 'hour' || query['by'] === 'day' ? query['by'] : usualStep(span)
  const by = fits(span, wish) ? wish : 'day'
  return {
    range,
    span: wholeSteps(spanBy(by), by),
    split,
    by,
    // Of refusals by reason nothing else is known.
    measure: split === 'reason' ? 'refusals' : measure,
    endpointId: query['endpoint'] ?? '',
    network: query['network'] ?? '',
    method: query['method'] ?? '',
    compare: query['compare'] === 'before',
    everyGroup: query['groups'] === 'all',
  }
}
