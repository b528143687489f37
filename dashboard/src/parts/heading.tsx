import type { ComponentChildren } from 'preact'
import { title as service } from '../brand.ts'
import { useLayoutEffect, useRef } from 'preact/hooks'

let first = true

/** The heading of a page. It takes the focus when the page has changed, so that a keyboard or a screen reader starts there. */
export function Heading({ title, children }: { title: string; children?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => {
    document.title = `${title} · ${service}`
  }, [title])
  useLayoutEffect(() => {
    if (!first) {
      heading.current?.focus({ preventScroll: true })
      scrollTo(0, 0)
    }
    first = false
  }, [])
  return (
    <header class="heading">
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children !== undefined && <div class="heading-actions">{children}</div>}
    </header>
  )
}
