/** A metric that is read where its values live, at each scrape: thousands of routes cost nothing between two scrapes. */

/** The values of the labels, in their order, and the value. */
export type Sample = readonly [labels: readonly string[], value: number]

/** What a series is made of. */
export interface Series {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge'
  readonly labelNames: readonly string[]
  readonly read: () => Iterable<Sample>
}

/** The series in the text format of Prometheus (version 0.0.4), line by line. */
export function* linesOf({ name, help, type, labelNames, read }: Series): Generator<string> {
  yield `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
  for (const [values, value] of read()) {
    const labels = labelText(labelNames, values)
    yield `${name}${labels === '' ? '' : `{${labels}}`} ${value}\n`
  }
  yield '\n'
}

/** `name="value",…` with the values escaped. */
export function labelText(names: readonly string[], values: readonly string[]): string {
  let text = ''
  for (let i = 0; i < names.length; i += 1)
    text += `${i === 0 ? '' : ','}${names[i]!}="${escaped(values[i]!)}"`
  return text
}

function escaped(value: string): string {
  return /[\\"\n]/.test(value)
    ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
    : value
}
