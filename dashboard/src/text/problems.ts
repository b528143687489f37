/** What the gateway refuses of an owner's wishes, in sentences for them. Without a full stop: something may follow. */

/** By the member of the parameters that is wrong. */
const MEMBERS: Readonly<Record<string, string>> = {
  name: 'A name has 1 to 64 printable characters',
  allowedOrigins: 'Allowed origins are web pages such as https://app.example.org, one a line, without a path',
  allowedIps: 'Allowed addresses are IP addresses or ranges such as 203.0.113.7 or 2001:db8::/32, one a line',
  perSecond: 'Request units a second are a whole number from 1 to 1,000,000',
  dailyLimit: 'Request units a day are a whole number from 1',
  expiresAt: 'A key expires on a day, or never',
  labels:
    'Labels are one a line, such as team=wallet: a name of letters, digits, ., _ and -, and a value of at most 64 characters',
}

/** By the stable reason of the refusal. */
const REASONS: Readonly<Record<string, string>> = {
  endpoint_limit: 'The account has as many endpoints as it may have: delete one first',
  endpoint_not_found: 'This endpoint no longer exists',
  rate_limited: 'Too much was asked for at a time',
  too_many_bad_keys: 'There were too many wrong tokens from your address',
  usage_timeout: 'This is too much to add up at a time: choose less time, or one endpoint',
  overloaded: 'The service is at its limit: try again in a moment',
  internal: 'Something went wrong on the other side',
}

/** The sentences for several members that are wrong. */
export function problemsOf(wrong: readonly { readonly why: string }[]): string {
  return wrong.map(({ why }) => problemOf('invalid_params', why)).join('. ')
}

/** The sentence for a refusal; null where the gateway's own words are good enough. `why` is its `data.why`. */
export function problemOf(reason: string, why = ''): string | null {
  if (reason !== 'invalid_params') return REASONS[reason] ?? null
  if (why === '') return null
  const [member = '', ...rest] = why.split(' ')
  if (member === 'webhook') return `The URL ${rest.join(' ')}`
  const wrongItem = /; item (\d+) is not$/.exec(why)?.[1]
  const line = wrongItem === undefined ? '' : `; line ${Number(wrongItem) + 1} is none`
  return member in MEMBERS ? `${MEMBERS[member]!}${line}` : `${why.charAt(0).toUpperCase()}${why.slice(1)}`
}
