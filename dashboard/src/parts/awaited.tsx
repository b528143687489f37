import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Resource } from '../model/resource.ts'
import { keepFresh } from '../model/fresh.ts'

interface Props<T> {
  readonly of: Resource<T>
  /** What is being fetched, in words. */
  readonly what: string
  readonly children: (value: T) => ComponentChildren
}

/** Shows a resource: that it is on its way, why it does not come, or what it is. */
export function Awaited<T>({ of, what, children }: Props<T>) {
  useEffect(() => keepFresh(of), [of])
  const { value, problem, busy } = of.known.value
  const retry = (
    <button type="button" class="quiet small" onClick={() => void of.load()} disabled={busy}>
      Try again
    </button>
  )
  if (value === null)
    return problem === '' ? (
      <p class="loading" aria-busy="true">
        Loading {what}…
      </p>
    ) : (
      <div class="notice bad" role="alert">
        <p>
          <strong>{`Could not load ${what}.`}</strong> {problem}
        </p>
        {retry}
      </div>
    )
  return (
    <>
      {problem !== '' && (
        <div class="notice bad" role="alert">
          <p>{`This is what was known before: ${what} could not be loaded again. ${problem}`}</p>
          {retry}
        </div>
      )}
      {children(value)}
    </>
  )
}
