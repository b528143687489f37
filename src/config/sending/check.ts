import { wordsOf } from '../families.ts'
import type { Finding } from '../finding.ts'
import type { Row } from '../link/rows.ts'
import type { Partly, RawConfig } from '../raw-config.ts'

/** Only what may be sent again may be sent to several upstreams at once. */
export function checkBroadcast({ file, path, rule, whole }: Row): Finding[] {
  // A `retry` that was dropped as invalid has its problem already.
  const isUnread = 'retry' in whole && whole.retry === undefined
  if (rule.broadcast === undefined || whole.retry === 'dedupe' || isUnread) return []
  const message = 'only methods with retry: dedupe can be sent to several upstreams at once'
  const hint = 'write retry: dedupe, or remove it'
  return [{ file, path: [...path, 'broadcast'], at: 'key', message, hint }]
}

/** Private routes of networks where no call is known to be a transaction, and bodies of several calls where requests pass as they are. */
export function checkSending({ routes, networks }: Partly<RawConfig>): Finding[] {
  return (routes?.routes ?? []).flatMap((route, index): Finding[] => {
    const family = networks?.networks?.[route?.network ?? '']?.family
    if (route === undefined || family === undefined || !wordsOf(family).arePaths) return []
    const keys = (['private', 'batch'] as const).filter(key => route[key] !== undefined)
    return keys.map(key => {
      const message = `"${key}" means nothing on ${wordsOf(family).called}`
      return { file: 'routes.yaml', path: ['routes', index, key], at: 'key', message, hint: 'remove it' }
    })
  })
}
