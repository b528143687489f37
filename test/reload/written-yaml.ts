/** A line and a column, both counted from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** Text that stands in the file as it is. */
export class Verbatim {
  constructor(readonly text: string) {}
}

/** Keys and list indexes, from the root. */
export type Path = readonly (string | number)[]

/** Writes plain data as block YAML and knows where it put everything. */
export class WrittenYaml {
  readonly #keys = new Map<string, Place>()
  readonly #values = new Map<string, Place>()
  readonly #lines: string[] = []

  constructor(value: unknown) {
    this.#write(value, [], 0, '')
  }

  get text(): string {
    return `${this.#lines.join('\n')}\n`
  }

  /** The line after the last one. */
  get end(): Place {
    return { line: this.#lines.length + 1, column: 1 }
  }

  /** Where a key stands; of a list item its beginning, of the document the first place. */
  key(path: Path): Place {
    return path.length === 0 ? { line: 1, column: 1 } : this.#keys.get(JSON.stringify(path))!
  }

  /** Where a value begins. */
  value(path: Path): Place {
    return this.#values.get(JSON.stringify(path))!
  }

  /** `start` is what stands in the line before the value already. */
  #write(value: unknown, path: Path, indent: number, start: string): void {
    const nested = typeof value === 'object' && value !== null && !(value instanceof Verbatim)
    const entries = nested ? Object.entries(value) : []
    if (!nested || entries.length === 0) {
      this.#mark(this.#values, path, start)
      this.#lines.push(start + (value instanceof Verbatim ? value.text : JSON.stringify(value)))
      return
    }
    const isList = Array.isArray(value)
    // A map in a list begins in the line of its dash; anything else in a line of its own.
    let first = start.endsWith('- ') ? start : undefined
    if (first === undefined && start !== '') this.#lines.push(start.trimEnd())
    for (const [i, [name, inner]] of entries.entries()) {
      const before = first ?? ' '.repeat(indent)
      first = undefined
      const step = isList ? Number(name) : name
      const head = `${before}${isList ? '- ' : `${keyText(name)}: `}`
      if (i === 0) this.#mark(this.#values, path, before)
      this.#mark(this.#keys, [...path, step], isList ? head : before)
      this.#write(inner, [...path, step], indent + 2, head)
    }
  }

  #mark(places: Map<string, Place>, path: Path, before: string): void {
    places.set(JSON.stringify(path), { line: this.#lines.length + 1, column: before.length + 1 })
  }
}

function keyText(name: string): string {
  return /^[A-Za-z][\w-]*$/.test(name) ? name : JSON.stringify(name)
}

/** The path as problems write it. */
export function pathText(path: Path): string {
  const steps = path.map(step => {
    if (typeof step === 'number') return `[${step}]`
    return /^[\w*-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`
  })
  return steps.join('').replace(/^\./, '')
}
