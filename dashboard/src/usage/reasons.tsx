import type { UsageRow } from '../api/types.ts'
import { figure, share } from '../text/figure.ts'
import { reasonAdvice, reasonName } from '../text/reasons.ts'
import { sumOf } from './sums.ts'
import type { Sum } from './sums.ts'

/** Why calls were refused, as a card of its own; nothing where none was. */
export function Refusals({ rows }: { rows: readonly UsageRow[] }) {
  const sum = sumOf(rows)
  if (sum.reasons.length === 0) return null
  return (
    <section class="card" aria-labelledby="refusals">
      <h2 id="refusals">Why calls were refused</h2>
      <Reasons sum={sum} />
    </section>
  )
}

/** Reasons, the most frequent first, and what helps. */
export function Reasons({ sum: { refusals, reasons } }: { sum: Sum }) {
  if (reasons.length === 0) return null
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Refused calls by reason">
      <table class="folding reasons">
        <thead>
          <tr>
            <th scope="col">Refused because</th>
            <th scope="col" class="number">
              Calls
            </th>
            <th scope="col" class="number">
              Share
            </th>
            <th scope="col">What helps</th>
          </tr>
        </thead>
        <tbody>
          {reasons.map(([reason, count]) => (
            <tr key={reason}>
              <th scope="row">
                {reasonName(reason)} <small>{reason}</small>
              </th>
              <td class="number" data-label="Calls">
                {figure(count)}
              </td>
              <td class="number" data-label="Share">
                {share(count, refusals)}
              </td>
              <td class="whole">{reasonAdvice(reason)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
