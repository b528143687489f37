import { isPrintable } from '../config/words/printable.ts'
import { isValidName } from '../stores/sqlite/accounts/name.ts'
import { normalizeAddress } from './address.ts'
import { normalizeOrigin } from '../net/origin.ts'
import { duration } from '../config/words/units.ts'
import { LATEST } from '../ports/clock.ts'
import { OVERLAP } from '../ports/endpoints.ts'
import { COLUMNS } from '../ports/ledger.ts'
import type { Column } from '../ports/ledger.ts'
import type { Check } from './params.ts'

const MAX_LIST = 100
const MAX_PER_SECOND = 1_000_000
const MAX_TOP = 1_000
const WEBHOOK = /^https?:\/\/[^\s]+$/
const EMAIL = /^[^\s@]+@[^\s@]+$/

/** Characters of a text at most. */
export const LONGEST = { externalId: 255, email: 254, webhook: 2048, text: 2048 } as const

/** A slug or an id that is looked up. What cannot be stored cannot be found either, and PostgreSQL rejects a query with a NUL. */
export const text: Check<string> = value =>
  typeof value !== 'string'
    ? { wrong: 'must be a string' }
    : isPrintable(value, LONGEST.text)
      ? { value }
      : { wrong: `must be at most ${LONGEST.text} printable characters` }

/** true or false. */
export const flag: Check<boolean> = value =>
  typeof value === 'boolean' ? { value } : { wrong: 'must be true or false' }

/** An endpoint's name. */
export const name: Check<string> = value =>
  typeof value === 'string' && isValidName(value)
    ? { value }
    : { wrong: 'must be 1 to 64 printable characters' }

/** The id of an account in the operator's own system. */
export const externalId: Check<string> = value =>
  typeof value === 'string' && value !== '' && isPrintable(value, LONGEST.externalId)
    ? { value }
    : { wrong: `must be 1 to ${LONGEST.externalId} printable characters` }

/** The email address of an account. */
export const email: Check<string> = value =>
  typeof value === 'string' && isPrintable(value, LONGEST.email) && EMAIL.test(value)
    ? { value }
    : { wrong: 'must be an email address' }

/** A point in time in Unix seconds, up to the year 9999. */
export const time: Check<number> = value =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= LATEST
    ? { value }
    : { wrong: `must be a whole number of Unix seconds, ${LATEST} at most` }

/** A point in time in Unix seconds, or null for never. */
export const timeOrNull: Check<number | null> = value =>
  value === null
    ? { value }
    : 'value' in time(value)
      ? time(value)
      : { wrong: `must be a whole number of Unix seconds, ${LATEST} at most, or null` }

/** How long an old key goes on, as a duration up to 30 days: its seconds. */
export const overlap: Check<number> = value => {
  const span = typeof value === 'string' ? duration(value) : null
  return span !== null && span <= OVERLAP.most * 1000
    ? { value: Math.ceil(span / 1000) }
    : { wrong: 'must be a duration such as "0s", "1h" or "30d", at most 30d' }
}

/** Request units per second, or null for no limit of its own. */
export const perSecond: Check<number | null> = value =>
  value === null ||
  (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_PER_SECOND)
    ? { value }
    : { wrong: `must be a whole number from 1 to ${MAX_PER_SECOND}, or null` }

/** Request units a day, or null for no limit of its own. */
export const dailyLimit: Check<number | null> = value =>
  value === null || (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1)
    ? { value }
    : { wrong: 'must be a whole number of request units, at least 1, or null' }

/** What rows of an account's usage are summed by; an empty list sums everything up. */
export const groupBy = columnsOf(COLUMNS.filter(column => column !== 'account'))

/** The same of all accounts. */
export const groupByAny = columnsOf(COLUMNS)

function columnsOf(offered: readonly Column[]): Check<readonly Column[]> {
  const wrong = `must be a list of any of ${offered.map(column => `"${column}"`).join(', ')}, each once`
  return value => {
    if (!Array.isArray(value) || new Set(value).size !== value.length) return { wrong }
    const columns = offered.filter(column => value.includes(column))
    return columns.length === value.length ? { value: columns } : { wrong }
  }
}

/** How many of the largest groups. */
export const top: Check<number> = value =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_TOP
    ? { value }
    : { wrong: `must be a whole number from 1 to ${MAX_TOP}` }

/** How many entries of the audit trail. */
export const entries: Check<number> = value =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_LIST
    ? { value }
    : { wrong: `must be a whole number from 1 to ${MAX_LIST}` }

/** Where events of an account are posted to. */
export const webhook: Check<string> = value => {
  const isUrl =
    typeof value === 'string' &&
    isPrintable(value, LONGEST.webhook) &&
    WEBHOOK.test(value) &&
    URL.canParse(value)
  if (!isUrl) return { wrong: 'must be a URL such as "https://hooks.example.com/x"' }
  const { username, password, port } = new URL(value)
  if (username !== '' || password !== '') return { wrong: 'must not hold a user name or a password' }
  if (port === '0') return { wrong: 'must not have the port 0' }
  return value.includes('#') ? { wrong: 'must not have a fragment (#…): it is not sent' } : { value }
}

/** The same, or null for nowhere. */
export const webhookOrNull: Check<string | null> = value => (value === null ? { value } : webhook(value))

/** What an earlier page ended with; read with its query. */
export const cursor: Check<string> = value =>
  typeof value === 'string' ? { value } : { wrong: 'must be the cursor of an earlier reply' }

/** Origins of web pages, or null for any. */
export const origins = list(normalizeOrigin, 'origins such as "https://app.example.org", without a path')

/** Addresses and CIDRs, or null for any. */
export const addresses = list(
  normalizeAddress,
  'IP addresses and CIDRs such as "203.0.113.7" and "2001:db8::/32"',
)

/** One of a few words. */
export function oneOf<const W extends string>(...words: readonly W[]): Check<W> {
  const wrong = `must be ${words.map(word => `"${word}"`).join(' or ')}`
  return value => {
    const word = words.find(word => word === value)
    return word === undefined ? { wrong } : { value: word }
  }
}

/** A list in normal form, without duplicates. An empty one would let nobody in, which `status` says better. */
function list(normalize: (text: string) => string | null, what: string): Check<readonly string[] | null> {
  const wrong = `must be null or a list of 1 to ${MAX_LIST} ${what}`
  return value => {
    if (value === null) return { value }
    if (!Array.isArray(value) || value.length === 0 || value.length > MAX_LIST) return { wrong }
    const normal = value.map(item => (typeof item === 'string' ? normalize(item) : null))
    const bad = normal.indexOf(null)
    if (bad !== -1) return { wrong: `${wrong}; item ${bad} is not` }
    return { value: [...new Set(normal as string[])] }
  }
}
