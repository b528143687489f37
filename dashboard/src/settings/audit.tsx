import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { linkTo } from '../address.ts'
import type { AuditEntry } from '../api/types.ts'
import { endpoints } from '../model/account.ts'
import { keepFresh } from '../model/fresh.ts'
import { audit } from '../model/settings.ts'
import { Awaited } from '../parts/awaited.tsx'
import { route } from '../route.ts'
import { provider } from '../brand.ts'
import { actionName, changeOf } from '../text/audit.ts'
import { stepName } from '../text/time.ts'

/** Who changed what of the account, newest first. */
export function AuditCard() {
  useEffect(() => keepFresh(endpoints), [])
  const { before = '' } = route.value.query
  const isFirst = useRef(true)
  // As on the page of usage: what is on its way may be another part of the trail.
  useLayoutEffect(() => {
    if (audit.known.peek().busy) audit.clear()
  }, [])
  useEffect(() => {
    if (!isFirst.current) void audit.load()
    isFirst.current = false
  }, [before])
  return (
    <section class="card" aria-labelledby="audit">
      <h2 id="audit">What has changed</h2>
      <Awaited of={audit} what="the audit trail">
        {({ entries, next }) => (
          <>
            {entries.length === 0 ? (
              <p class="quiet-text">Nothing is recorded.</p>
            ) : (
              <Entries all={entries} />
            )}
            <nav class="pager" aria-label="Pages of changes">
              {before !== '' && <a href={linkTo('settings')}>Newest</a>}
              {next !== null && <a href={linkTo('settings', '', { before: String(next) })}>Older</a>}
            </nav>
          </>
        )}
      </Awaited>
    </section>
  )
}

function Entries({ all }: { all: readonly AuditEntry[] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Changes, newest first">
      <table class="folding changes">
        <thead>
          <tr>
            <th scope="col">Time (UTC)</th>
            <th scope="col">What</th>
            <th scope="col">Of</th>
            <th scope="col">By</th>
            <th scope="col">Details</th>
          </tr>
        </thead>
        <tbody>
          {all.map((entry, i) => (
            <tr key={i}>
              <td class="whole">{stepName(entry.time, 'hour')}</td>
              <th scope="row">{actionName(entry)}</th>
              <td>{nameOf(entry.target)}</td>
              <td data-label="by">{actorName(entry)}</td>
              <td class="whole details">{changeOf(entry)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** An endpoint's name where it still has one. */
function nameOf(id: string): string {
  if (id.startsWith('acc_')) return 'the account'
  return endpoints.known.value.value?.find(({ endpointId }) => endpointId === id)?.name ?? id
}

/** Who made a change. */
function actorName({ actor }: AuditEntry): string {
  if (actor === 'operator') return provider
  if (actor === 'gateway') return 'the service'
  if (actor === 'owner:dashboard') return 'an owner, here'
  if (actor === 'owner:many') return 'owners, many times'
  return `the key of ${nameOf(actor.replace('owner:', ''))}`
}
