import { CopyButton } from './copy-button.tsx'

interface Props {
  /** What it is, such as "New dashboard token". */
  readonly what: string
  readonly secret: string
  readonly onDone: () => void
}

/** A secret that nobody can show again: to be copied now. */
export function ShownOnce({ what, secret, onDone }: Props) {
  return (
    <div class="notice once" role="status">
      <p>
        <strong>{what}:</strong> it is shown only now. Keep it somewhere safe.
      </p>
      <div class="secret">
        <code class="secret-text" tabIndex={0} aria-label={what}>
          {secret}
        </code>
        <CopyButton what={what} fetchText={() => Promise.resolve(secret)} />
        <button type="button" class="quiet small" onClick={onDone}>
          Done
        </button>
      </div>
    </div>
  )
}
