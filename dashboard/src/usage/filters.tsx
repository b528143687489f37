import type { Endpoint } from '../api/types.ts'
import { endpointName } from '../model/account.ts'
import { networkName, networks } from '../model/networks.ts'
import { Choose } from '../parts/choose.tsx'
import { change } from '../route.ts'
import { isoDay } from '../text/time.ts'
import { SPLITS } from './choice.ts'
import type { Choice } from './choice.ts'
import { MEASURE_NAMES, MEASURES } from './measures.ts'
import { fits, RANGES, usualStep } from './span.ts'

/** Another choice has other groups: the table begins with the largest again. */
const first = { page: '', groups: '' }

/** What is shown: every choice is in the URL. */
export function Filters({ all, choice }: { all: readonly Endpoint[]; choice: Choice }) {
  const { range, span, split, measure, endpointId, compare } = choice
  const served = networks.known.value.value ?? []
  const measures = split === 'reason' ? (['refusals'] as const) : MEASURES
  return (
    <div class="filters">
      <div class="choices-row">
        <Ranges range={range} from={isoDay(span.from)} to={isoDay(span.to - 1)} />
        <Steps choice={choice} />
        <Choose
          label="Show"
          name="show"
          value={measure}
          options={measures.map(measure => [measure, MEASURE_NAMES[measure]])}
          also={first}
        />
        <Choose label="Split" name="split" value={split} options={SPLITS} also={first} />
      </div>
      <div class="choices-row">
        <Choose
          label="Endpoint"
          name="endpoint"
          value={endpointId}
          options={[
            ['', 'All endpoints'],
            ...all.map(({ endpointId }) => [endpointId, endpointName(endpointId)] as const),
          ]}
          also={first}
        />
        <Choose
          label="Network"
          name="network"
          options={[['', 'All networks'], ...served.map(({ slug }) => [slug, networkName(slug)] as const)]}
          also={first}
        />
        <input
          type="search"
          aria-label="Method"
          placeholder="All methods"
          spellcheck={false}
          value={choice.method}
          onChange={event => change({ method: event.currentTarget.value.trim(), ...first })}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={compare}
            onChange={event => change({ compare: event.currentTarget.checked ? 'before' : '' })}
          />
          {range === 'month' || range === 'last-month'
            ? 'Compare with the month before'
            : 'Compare with before'}
        </label>
      </div>
    </div>
  )
}

function Ranges({ range, from, to }: { range: Choice['range']; from: string; to: string }) {
  const choose = (next: string): void =>
    change({
      range: next === '24h' ? '' : next,
      by: '',
      ...first,
      ...(next === 'custom' ? { from, to } : { from: '', to: '' }),
    })
  return (
    <>
      <select aria-label="Time" value={range} onChange={event => choose(event.currentTarget.value)}>
        {RANGES.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      {range === 'custom' && (
        <>
          <Day label="First day" name="from" value={from} />
          <Day label="Last day" name="to" value={to} />
        </>
      )}
    </>
  )
}

function Day({ label, name, value }: { label: string; name: string; value: string }) {
  const max = isoDay(Date.now() / 1000)
  return (
    <input
      type="date"
      aria-label={label}
      {...{ value, max }}
      required
      onChange={event => change({ [name]: event.currentTarget.value, by: '', ...first })}
    />
  )
}

function Steps({ choice: { span, by } }: { choice: Choice }) {
  return (
    <div role="group" aria-label="Step">
      {(['hour', 'day'] as const).map(step => (
        <button
          key={step}
          type="button"
          class="quiet small"
          aria-pressed={step === by}
          disabled={!fits(span, step)}
          onClick={() => change({ by: step === usualStep(span) ? '' : step })}
        >
          by {step}
        </button>
      ))}
    </div>
  )
}
