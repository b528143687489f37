/** Compares two dumps, so that a golden shows what a few lines of YAML change and nothing else. */
type Named = Readonly<Record<string, unknown>>

/** Lines of `path: value`. Items of a list that have names go by those, after a line with their order. */
export function flatten(value: unknown, path = ''): string[] {
  const members = membersOf(value)
  if (members === null || Object.keys(members).length === 0) return [`${path}: ${JSON.stringify(value)}`]
  return [
    ...order(value, path),
    ...Object.entries(members).flatMap(([name, one]) => flatten(one, join(path, name))),
  ]
}

/** What a new thing is compared with, so that only what sets it apart is shown; null to show all of it. */
export type Likeness = (value: unknown) => { readonly name: string; readonly like: unknown } | null

/** Lines with `-` for what is gone and `+` for what is new. */
export function changes(before: unknown, after: unknown, likeness: Likeness, path = ''): string[] {
  const [old, now] = [membersOf(before), membersOf(after)]
  if (old === null || now === null) {
    const [lost, found] = [flatten(before, path), flatten(after, path)]
    return lost.join() === found.join() ? [] : [...signed('-', lost), ...signed('+', found)]
  }
  const [oldOrder, nowOrder] = [order(before, path), order(after, path)]
  const moved =
    oldOrder.join() === nowOrder.join() ? [] : [...signed('-', oldOrder), ...signed('+', nowOrder)]
  const gone = Object.keys(old).filter(name => !(name in now))
  return [
    ...(moved.length > 0 || gone.length === 0 ? moved : [`- ${join(path, gone.join(', '))}`]),
    ...Object.entries(now).flatMap(([name, one]) => {
      const at = join(path, name)
      return name in old ? changes(old[name], one, likeness, at) : additions(one, likeness, at)
    }),
  ]
}

function additions(value: unknown, likeness: Likeness, path: string): string[] {
  const found = likeness(value)
  if (found === null) return signed('+', flatten(value, path))
  const apart = changes(found.like, value, likeness, path).filter(line => !line.startsWith('- '))
  return [`+ ${path}, like ${found.name} but for`, ...apart.map(line => `  ${line}`)]
}

function signed(sign: string, lines: readonly string[]): string[] {
  return lines.map(line => `${sign} ${line}`)
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

/** What an object or a list of named things holds, by name; null for everything else. */
function membersOf(value: unknown): Named | null {
  if (typeof value !== 'object' || value === null) return null
  if (!Array.isArray(value)) return value as Named
  const names = value.map(nameOf).filter(name => name !== undefined)
  if (names.length < value.length) return null
  return Object.fromEntries<unknown>(names.map((name, index) => [name, value[index]]))
}

function order(value: unknown, path: string): string[] {
  return Array.isArray(value) && value.length > 0
    ? [`${path}, in this order: ${value.map(nameOf).join(', ')}`]
    : []
}

function nameOf(item: unknown): string | undefined {
  const { id, rule } = (item ?? {}) as { id?: string; rule?: { match: string } }
  return id ?? rule?.match
}
