import type { Account, UsageRow } from '../api/types.ts'
import { account, endpoints } from '../model/account.ts'
import { lastDays, today } from '../model/usage.ts'
import { Awaited } from '../parts/awaited.tsx'
import { Empty } from '../parts/empty.tsx'
import { Heading } from '../parts/heading.tsx'
import { linkTo } from '../address.ts'
import { count, figure, share } from '../text/figure.ts'
import { reasonName } from '../text/reasons.ts'
import { day, stepName } from '../text/time.ts'
import { halves, LastDay } from '../usage/day.tsx'
import { usedUpAt } from '../usage/forecast.ts'
import { shown } from '../usage/measures.ts'
import { Refusals } from '../usage/reasons.tsx'
import { groupRows, sumOf } from '../usage/sums.ts'

/** How the account is doing at a glance. */
export function OverviewPage() {
  return (
    <>
      <Heading title="Overview" />
      <Awaited of={account} what="your account">
        {account => <PlanCard {...account} />}
      </Awaited>
      <Awaited of={today} what="today's usage">
        {rows => <Today rows={rows} />}
      </Awaited>
      <div class="columns">
        <section class="card">
          <h2>Request units, last 24 hours</h2>
          <Awaited of={lastDays} what="the last 24 hours">
            {known =>
              known.rows.length === 0 ? <NoCalls within="in the last 24 hours" /> : <LastDay {...known} />
            }
          </Awaited>
          <p class="quiet-text">
            Hours are UTC · <a href={linkTo('usage')}>by endpoint</a> ·{' '}
            <a href={linkTo('usage', '', { split: 'method' })}>by method</a>
          </p>
        </section>
        <section class="card">
          <h2>Busiest endpoints today</h2>
          <Awaited of={today} what="today's usage">
            {rows => <Busiest rows={rows} />}
          </Awaited>
        </section>
      </div>
      <Refusals rows={today.known.value.value ?? []} />
    </>
  )
}

function PlanCard({ plan, rate, quota, endpoints: { used, limit } }: Account) {
  return (
    <section class="card plan" aria-label="Plan">
      <div>
        <span class="figure-label">Plan</span>
        <strong class="figure">{plan}</strong>
        <span class="quiet-text">
          {rate === null
            ? 'no rate limit'
            : `${count(rate.perSecond, 'request unit')} a second, ${figure(rate.burst)} at once`}
        </span>
      </div>
      <div class="quota">
        <span class="figure-label">Quota</span>
        {quota === null ? (
          <>
            <strong class="figure">unlimited</strong>
            <span class="quiet-text">this plan has no quota</span>
          </>
        ) : (
          <Quota {...quota} />
        )}
      </div>
      <div>
        <span class="figure-label">Endpoints</span>
        <strong class="figure">{figure(used)}</strong>
        <span class="quiet-text">of {figure(limit)}</span>
      </div>
    </section>
  )
}

function Quota(quota: NonNullable<Account['quota']>) {
  const { requests, used, resetsAt } = quota
  const isLeft = used < requests
  return (
    <>
      <strong class="figure">
        {figure(used)} <small>of {count(requests, 'request unit')}</small>
      </strong>
      <progress
        class={isLeft ? '' : 'spent'}
        value={Math.min(used, requests)}
        max={requests}
        aria-label="Quota used"
      />
      <span class="quiet-text">
        {isLeft ? `${share(used, requests)} used` : 'Used up: calls are refused until then'} · resets on{' '}
        {day(resetsAt)} (UTC)
      </span>
      {isLeft && <Forecast {...quota} />}
    </>
  )
}

/** Whether the quota lasts at the pace of the last 24 hours; nothing before that pace is known. */
function Forecast(quota: NonNullable<Account['quota']>) {
  const known = lastDays.known.value.value
  if (known === null) return null
  const pace = halves(known.to, known.rows).now.requests
  if (pace === 0) return null
  const at = usedUpAt(quota, pace, Date.now() / 1000)
  return at === null ? (
    <span class="quiet-text"> · enough at the pace of the last 24 hours</span>
  ) : (
    <p class="notice bad">At the pace of the last 24 hours it is used up on {stepName(at, 'hour')} (UTC).</p>
  )
}

function Today({ rows }: { rows: readonly UsageRow[] }) {
  const sum = sumOf(rows)
  const { calls, requests, errors, refusals, reasons } = sum
  const [first] = reasons
  return (
    <section class="figures" aria-label="Today (UTC)">
      <Figure label="Calls today" value={figure(calls)} note="since midnight UTC" />
      <Figure label="Request units today" value={figure(requests)} note="what the calls cost together" />
      <Figure
        label="Error share"
        value={share(errors, calls)}
        note={`${figure(errors)} answered with an error`}
      />
      <Figure
        label="Refused today"
        value={figure(refusals)}
        note={first === undefined ? 'calls, not billed' : `most: ${reasonName(first[0])}`}
      />
      <Figure
        label="Time at the nodes"
        value={shown('p50', sum)}
        note={`for half of the calls (p50); p95 ${shown('p95', sum)}`}
      />
    </section>
  )
}

function Figure({ label, value, note }: { label: string; value: string; note: string }) {
  return (
    <div class="card">
      <span class="figure-label">{label}</span>
      <strong class="figure">{value}</strong>
      <span class="quiet-text">{note}</span>
    </div>
  )
}

function Busiest({ rows }: { rows: readonly UsageRow[] }) {
  if (rows.length === 0) return <NoCalls within="today" />
  const known = endpoints.known.value.value ?? []
  const sums = [...groupRows(rows, ({ endpointId }) => endpointId)]
    .map(([id, rows]) => ({ id, name: known.find(one => one.endpointId === id)?.name, sum: sumOf(rows) }))
    .sort((a, b) => b.sum.requests - a.sum.requests)
    .slice(0, 5)
  return (
    <Awaited of={endpoints} what="your endpoints">
      {() => (
        <table>
          <thead>
            <tr>
              <th scope="col">Endpoint</th>
              <th scope="col" class="number">
                Request units
              </th>
              <th scope="col" class="number">
                Errors
              </th>
            </tr>
          </thead>
          <tbody>
            {sums.map(({ id, name, sum }) => (
              <tr key={id}>
                <th scope="row">
                  {name === undefined ? `deleted (${id})` : <a href={linkTo('endpoints', id)}>{name}</a>}
                </th>
                <td class="number">{figure(sum.requests)}</td>
                <td class="number">{share(sum.errors, sum.calls)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Awaited>
  )
}

/** No calls since a time, or ever: an account that made some needs no advice about the first. */
function NoCalls({ within }: { within: string }) {
  return (
    <Awaited of={endpoints} what="your endpoints">
      {all =>
        all.some(({ requestCount }) => requestCount > 0) ? (
          <Empty title={`No calls ${within}`} />
        ) : (
          <Empty title="No calls yet">
            <p>
              Pick <a href={linkTo('endpoints')}>an endpoint</a> and make the first one: each has a snippet to
              copy and a call to try.
            </p>
          </Empty>
        )
      }
    </Awaited>
  )
}
