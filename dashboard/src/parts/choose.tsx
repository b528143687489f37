import { change, route } from '../route.ts'

interface Props {
  /** What is chosen; also the label. */
  readonly label: string
  /** How the URL names it. */
  readonly name: string
  /** Values and what they are called; the first one is the usual, which the URL leaves out. */
  readonly options: readonly (readonly [value: string, text: string])[]
  /** Other state that goes with a change, such as back to the first page. */
  readonly also?: Readonly<Record<string, string>>
  /** What it stands at where that is not simply what the URL says. */
  readonly value?: string
}

/** A list to choose from whose choice is in the URL. */
export function Choose({ label, name, options, also = {}, value }: Props) {
  const usual = options[0]?.[0] ?? ''
  const now = value ?? route.value.query[name] ?? usual
  const known = options.some(([value]) => value === now)
  return (
    <select
      aria-label={label}
      value={now}
      onChange={({ currentTarget: { value } }) => change({ [name]: value === usual ? '' : value, ...also })}
    >
      {!known && <option value={now}>{now}</option>}
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  )
}
