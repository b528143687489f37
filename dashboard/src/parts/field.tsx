interface Props {
  readonly label: string
  /** What else there is to know, beside the label. */
  readonly note?: string
  readonly placeholder?: string
  readonly value: string
  readonly onType: (text: string) => void
}

/** A field for a name, which is taken as it is typed. */
export function NameField({ label, note = '', placeholder = '', value, onType }: Props) {
  return (
    <label>
      {label} {note !== '' && <small>{note}</small>}
      <input
        name="name"
        autoComplete="off"
        placeholder={placeholder}
        value={value}
        onInput={event => onType(event.currentTarget.value)}
      />
    </label>
  )
}

/** A field for several things, one a line. */
export function LinesField({
  label,
  note = '',
  placeholder = '',
  value,
  onType,
  rows = 2,
}: Props & { rows?: number }) {
  return (
    <label>
      {label} {note !== '' && <small>{note}</small>}
      <textarea
        rows={rows}
        spellcheck={false}
        placeholder={placeholder}
        value={value}
        onInput={event => onType(event.currentTarget.value)}
      />
    </label>
  )
}

/** A field for a whole number. It takes any text: the gateway reports all wrong fields at once, a browser one at a time. */
export function NumberField({ label, note = '', value, onType }: Props) {
  return (
    <label>
      {label} {note !== '' && <small>{note}</small>}
      <input
        inputMode="numeric"
        autoComplete="off"
        value={value}
        onInput={event => onType(event.currentTarget.value)}
      />
    </label>
  )
}
