/** Options of `tollgate endpoint create` that restrict what the new key may be used for. */
import { duration } from '../../config/words/units.ts'
import { UsageError } from '../command.ts'

export const RESTRICTIONS = {
  'per-second': 'string',
  daily: 'string',
  ip: 'strings',
  origin: 'strings',
  expires: 'string',
  'no-management': 'boolean',
} as const

export const RESTRICTIONS_HELP = `  --per-second N   request units that it may use per second
  --daily N        request units that it may use in a calendar day in UTC
  --ip RANGE       addresses that may use it, such as 192.0.2.0/24; several times for several
  --origin URL     web pages that may use it, such as https://app.example.com; several times for several. Whoever reads
                   the page has such a key, so it manages nothing
  --expires TIME   how long it may be used, such as 12h or 90d
  --no-management  its key calls no service_* methods`

type Given = Readonly<Record<string, string | boolean | undefined>>

/** The params of service_createEndpoint that the options stand for; `now` in Unix seconds. */
export function readRestrictions(
  given: Given,
  { ip = [], origin = [] }: Readonly<Record<string, readonly string[] | undefined>>,
  now: number,
): Readonly<Record<string, unknown>> {
  const { 'per-second': perSecond, daily, expires } = given
  return {
    ...(perSecond === undefined ? {} : { perSecond: unitsOf('per-second', perSecond) }),
    ...(daily === undefined ? {} : { dailyLimit: unitsOf('daily', daily) }),
    ...(ip.length === 0 ? {} : { allowedIps: ip }),
    ...(origin.length === 0 ? {} : { allowedOrigins: origin }),
    ...(expires === undefined ? {} : { expiresAt: now + secondsOf(expires) }),
    ...(given['no-management'] === true ? { management: false } : {}),
  }
}

function unitsOf(name: string, text: string | boolean): number {
  const units = typeof text === 'string' && /^[1-9]\d*$/.test(text) ? Number(text) : NaN
  if (Number.isSafeInteger(units)) return units
  throw new UsageError(`--${name} must be a whole number of request units, at least 1`)
}

function secondsOf(text: string | boolean): number {
  const milliseconds = typeof text === 'string' ? duration(text) : null
  if (milliseconds === null || milliseconds < 1_000)
    throw new UsageError('--expires must be a time such as 12h or 90d')
  return Math.ceil(milliseconds / 1_000)
}
