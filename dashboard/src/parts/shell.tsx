import type { ComponentChildren } from 'preact'
import { signOut } from '../api/session.ts'
import { sentence } from '../api/failure.ts'
import { useEffect } from 'preact/hooks'
import { account } from '../model/account.ts'
import { keepFresh } from '../model/fresh.ts'
import { linkTo, PAGES } from '../address.ts'
import { route } from '../route.ts'
import { Brand, Links } from './brand.tsx'
import { PrintHead } from './print-head.tsx'
import { say } from './toast.tsx'

/** What surrounds every page: the way to the others, and out. */
export function Shell({ children }: { children: ComponentChildren }) {
  useEffect(() => keepFresh(account), [])
  const leave = (): void => void signOut().catch((error: unknown) => say(sentence(error)))
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href={linkTo('overview')}>
          <Brand />
        </a>
        <nav aria-label="Pages">
          {PAGES.map(page => (
            <a key={page} href={linkTo(page)} aria-current={route.value.page === page ? 'page' : undefined}>
              {page}
            </a>
          ))}
        </nav>
        <div class="who">
          <span class="who-name" title={account.known.value.value?.name}>
            {account.known.value.value?.name}
          </span>
          <button type="button" class="quiet small" onClick={leave}>
            Sign out
          </button>
        </div>
      </header>
      <PrintHead />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <Links />
    </>
  )
}

/** The part behind `#` names the page, so this link moves the focus itself. */
function skip(event: Event): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}
