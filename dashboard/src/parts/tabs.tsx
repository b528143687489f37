import { useRef } from 'preact/hooks'

interface Props {
  readonly label: string
  /** Of the panel that the tabs change. */
  readonly id: string
  readonly names: readonly string[]
  readonly chosen: number
  readonly onChoose: (index: number) => void
}

/** Tabs as the ARIA practices have them: one stop for Tab, arrows move between them. */
export function Tabs({ label, id, names, chosen, onChoose }: Props) {
  const list = useRef<HTMLDivElement>(null)
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = (chosen + step + names.length) % names.length
    onChoose(next)
    list.current?.querySelectorAll('button')[next]?.focus()
  }
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
      {names.map((name, i) => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={i === chosen}
          aria-controls={id}
          tabIndex={i === chosen ? 0 : -1}
          onClick={() => onChoose(i)}
        >
          {name}
        </button>
      ))}
    </div>
  )
}
