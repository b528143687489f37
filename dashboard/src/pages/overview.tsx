import type { Account, UsageRow } from '../api/types.ts'
import { account, endpoints } from '../model/account.ts'
import { lastDay, today } from '../model/usage.ts'
import { Awaited } from '../parts/awaited.tsx'
import { Bars } from '../parts/bars.tsx'
import { Empty } from '../parts/empty.tsx'
import { Heading } from '../parts/heading.tsx'
import { linkTo } from '../route.ts'
import { figure, share } from '../text/figure.ts'
import { day } from '../text/time.ts'
import { stepsOf } from '../usage/span.ts'
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
          <h2>Requests, last 24 hours</h2>
          <Awaited of={lastDay} what="the last 24 hours">
            {({ from, to, rows }) => <LastDay from={from} to={to} rows={rows} />}
          </Awaited>
        </section>
        <section class="card">
          <h2>Busiest endpoints today</h2>
          <Awaited of={today} what="today's usage">
            {rows => <Busiest rows={rows} />}
          </Awaited>
        </section>
      </div>
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
            : `${figure(rate.perSecond)} requests a second, ${figure(rate.burst)} at once`}
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

function Quota({ requests, used, resetsAt }: NonNullable<Account['quota']>) {
  return (
    <>
      <strong class="figure">
        {figure(used)} <small>of {figure(requests)} requests</small>
      </strong>
      <progress
        class={used < requests ? '' : 'spent'}
        value={Math.min(used, requests)}
        max={requests}
        aria-label="Quota used"
      />
      <span class="quiet-text">
        {used < requests ? `${share(used, requests)} used` : 'Used up: calls are refused until then'} · resets
        on {day(resetsAt)} (UTC)
      </span>
    </>
  )
}

function Today({ rows }: { rows: readonly UsageRow[] }) {
  const { calls, requests, errors, rateLimited } = sumOf(rows)
  return (
    <section class="figures" aria-label="Today (UTC)">
      <Figure label="Calls today" value={figure(calls)} note="since midnight UTC" />
      <Figure label="Requests today" value={figure(requests)} note="what they cost together" />
      <Figure
        label="Error share"
        value={share(errors, calls)}
        note={`${figure(errors)} answered with an error`}
      />
      {rateLimited !== null && (
        <Figure label="Over the rate" value={figure(rateLimited)} note="calls refused today, not billed" />
      )}
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

function LastDay({ from, to, rows }: { from: number; to: number; rows: readonly UsageRow[] }) {
  if (rows.length === 0) return <NoCalls />
  const byHour = groupRows(rows, ({ time }) => String(time))
  const values = stepsOf(from, to, 'hour').map(time => sumOf(byHour.get(String(time)) ?? []).requests)
  const total = values.reduce((a, b) => a + b, 0)
  return (
    <>
      <Bars
        label={`${figure(total)} requests in 24 hours, at most ${figure(Math.max(...values))} an hour`}
        values={values}
      />
      <p class="quiet-text">
        {figure(total)} requests · <a href={linkTo('usage')}>by endpoint and method</a>
      </p>
    </>
  )
}

function Busiest({ rows }: { rows: readonly UsageRow[] }) {
  if (rows.length === 0) return <NoCalls />
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
                Requests
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

function NoCalls() {
  return (
    <Empty title="No calls yet">
      <p>
        Pick <a href={linkTo('endpoints')}>an endpoint</a> and make the first one: each has a snippet to copy
        and a call to try.
      </p>
    </Empty>
  )
}
