/** Labels of endpoints as they are read and typed: `team=wallet`, or `legacy` where the value is empty. */
import type { Change, Endpoint } from '../api/types.ts'

type Labels = Endpoint['labels']

/** Each label of an endpoint, in the order of their names. */
export function labelTexts(labels: Labels): string[] {
  return Object.entries(labels)
    .map(([name, value]) => (value === '' ? name : `${name}=${value}`))
    .sort()
}

/** What was typed, one label a line, as the change of the labels that there were: those that are the same are not in it. */
export function labelChange(before: Labels, text: string): NonNullable<Change['labels']> {
  const typed = text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
    .map(line => {
      const [name = '', ...value] = line.split('=')
      return [name.trim(), value.join('=').trim()] as const
    })
  const gone = Object.keys(before).filter(name => !typed.some(([one]) => one === name))
  const changed = typed.filter(([name, value]) => before[name]?.trim() !== value)
  return Object.fromEntries([...gone.map(name => [name, null] as const), ...changed])
}
