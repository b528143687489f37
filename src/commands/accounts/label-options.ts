/** Labels as they are written on a command line. */
import { isPrintable } from '../../config/words/printable.ts'
import { LABEL } from '../../management/labels.ts'
import { LABELS } from '../../ports/labels.ts'
import type { LabelChange, Labels } from '../../ports/labels.ts'
import { UsageError } from '../command.ts'

/** What `--set NAME=VALUE` and `--remove NAME`, each given any number of times, add, replace and take away. */
export function labelChange({
  set = [],
  remove = [],
}: Readonly<Record<string, readonly string[]>>): LabelChange {
  return Object.fromEntries([...remove.map(name => [name, null] as const), ...readLabels('set', set)])
}

/** Labels given as NAME=VALUE with an option of this name. What an account or endpoint may have at most is checked with the change. */
export function readLabels(option: string, pairs: readonly string[]): (readonly [string, string])[] {
  const { longest } = LABELS.account
  return pairs.map(pair => {
    const at = pair.indexOf('=')
    const [name, value] = [pair.slice(0, Math.max(at, 0)), pair.slice(at + 1)]
    if (!LABEL.test(name) || !isPrintable(value, longest))
      throw new UsageError(
        `--${option} takes NAME=VALUE, a name of letters, digits, ., _ and -, and a value of at most ${longest} printable characters: ${JSON.stringify(pair)}`,
      )
    return [name, value] as const
  })
}

/** Labels as a person reads them. */
export function shownLabels(labels: Labels): string {
  const all = Object.entries(labels).map(([name, value]) => (value === '' ? name : `${name}=${value}`))
  return all.length === 0 ? '-' : all.sort().join(', ')
}
