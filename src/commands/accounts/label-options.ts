/** Labels as they are written on a command line. */
import type { LabelChange, Labels } from '../../ports/labels.ts'
import { UsageError } from '../command.ts'

/** What `--set NAME=VALUE` and `--remove NAME`, each given any number of times, add, replace and take away. */
export function labelChange({
  set = [],
  remove = [],
}: Readonly<Record<string, readonly string[]>>): LabelChange {
  return Object.fromEntries([...remove.map(name => [name, null] as const), ...readLabels('set', set)])
}

/** Labels given as NAME=VALUE with an option of this name. */
export function readLabels(option: string, pairs: readonly string[]): (readonly [string, string])[] {
  return pairs.map(pair => {
    const [, name, value] = /^([A-Za-z0-9._-]{1,63})=(.{0,255})$/u.exec(pair) ?? []
    if (name === undefined || value === undefined)
      throw new UsageError(
        `--${option} takes NAME=VALUE, a name of letters, digits, ., _ and -: ${JSON.stringify(pair)}`,
      )
    return [name, value] as const
  })
}

/** Labels as a person reads them. */
export function shownLabels(labels: Labels): string {
  const all = Object.entries(labels).map(([name, value]) => (value === '' ? name : `${name}=${value}`))
  return all.length === 0 ? '-' : all.sort().join(', ')
}
