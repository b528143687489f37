/** What the key of an endpoint may be used for, as its form shows it and as it is changed. */
import type { Change, Endpoint } from '../api/types.ts'
import { isoDay } from './time.ts'

/** The fields of the form as they are typed. */
export interface Form {
  /** One a line, as addresses are; empty allows all. */
  readonly origins: string
  readonly addresses: string
  /** Request units, or empty for no limit. */
  readonly rate: string
  readonly daily: string
  /** A date, or empty for never. */
  readonly expires: string
  readonly manages: boolean
}

const lines = (list: readonly string[] | null): string => (list ?? []).join('\n')
const digits = (limit: number | null): string => (limit === null ? '' : String(limit))

/** The form of an endpoint that nobody has typed into. */
export function formOf({ allowedOrigins, allowedIps, management, ...limits }: Endpoint): Form {
  return {
    origins: lines(allowedOrigins),
    addresses: lines(allowedIps),
    manages: management,
    rate: digits(limits.perSecond),
    daily: digits(limits.dailyLimit),
    expires: limits.expiresAt === null ? '' : isoDay(limits.expiresAt),
  }
}

/** The change that makes an endpoint what its form says: only what differs, so that nothing which was changed elsewhere meanwhile is changed back. */
export function changeOf(now: Form, form: Form): Change {
  const differs = (name: keyof Form): boolean => form[name] !== now[name]
  return {
    // A list of origins takes management away unless the change says what it is to be.
    ...(differs('origins') ? { allowedOrigins: list(form.origins), management: form.manages } : {}),
    ...(differs('manages') ? { management: form.manages } : {}),
    ...(differs('addresses') ? { allowedIps: list(form.addresses) } : {}),
    ...(differs('rate') ? { perSecond: number(form.rate) } : {}),
    ...(differs('daily') ? { dailyLimit: number(form.daily) } : {}),
    ...(differs('expires') ? { expiresAt: midnight(form.expires) } : {}),
  }
}

/** One a line; nothing means anything goes. */
function list(text: string): string[] | null {
  const items = text.split(/[\s,]+/).filter(item => item !== '')
  return items.length === 0 ? null : items
}

/** Empty means no limit. Text that is not a number is sent as it is, and the gateway's error names the field. */
function number(text: string): number | string | null {
  const typed = text.trim()
  if (typed === '') return null
  return /^\d+$/.test(typed) ? Number(typed) : typed
}

const midnight = (day: string): number | null => (day === '' ? null : Date.parse(`${day}T00:00Z`) / 1000)
