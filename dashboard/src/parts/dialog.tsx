import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { sentence } from '../api/failure.ts'

interface Props {
  readonly title: string
  /** What the button that does it says. */
  readonly action: string
  readonly danger?: boolean
  readonly ready?: boolean
  readonly onSubmit: () => Promise<void>
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** Asks before it does something: a form in a modal dialog, which the browser keeps the focus in and Escape closes. */
export function Dialog({ title, action, danger = false, ready = true, onSubmit, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  useLayoutEffect(() => dialog.current?.showModal(), [])
  const isOver = useRef(false)
  // The browser's own event comes later: what is opened before it would be closed by it.
  const close = (): void => {
    if (isOver.current) return
    isOver.current = true
    dialog.current?.close()
    onClose()
  }
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setProblem('')
    try {
      await onSubmit()
      close()
    } catch (error) {
      setProblem(sentence(error))
      setBusy(false)
    }
  }
  return (
    <dialog ref={dialog} aria-labelledby={titleId} onCancel={close} onClose={close}>
      <article>
        <form onSubmit={event => void submit(event)}>
          <h2 id={titleId}>{title}</h2>
          {children}
          {problem !== '' && (
            <p class="notice bad" role="alert">
              {problem}
            </p>
          )}
          <footer class="actions">
            <button type="button" class="quiet" onClick={close}>
              Cancel
            </button>
            <button type="submit" class={danger ? 'danger' : ''} disabled={!ready || busy} aria-busy={busy}>
              {action}
            </button>
          </footer>
        </form>
      </article>
    </dialog>
  )
}
