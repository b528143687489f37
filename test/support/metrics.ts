import type { Gateway } from './gateway.ts'
import { get } from './http.ts'
import { until } from './until.ts'

/** The sum over all series of a metric that carry these labels. */
export async function metric(
  gateway: Gateway,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const { text } = await get(`${gateway.adminUrl}/metrics`)
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  let sum = 0
  for (const [, , series = '', value] of text.matchAll(new RegExp(`^${name}(\\{(.*)\\})? (\\S+)$`, 'gm')))
    if (wanted.every(pair => series.split(',').includes(pair))) sum += Number(value)
  return sum
}

/** Resolves when a metric has this value. */
export async function metricIs(
  gateway: Gateway,
  name: string,
  labels: Readonly<Record<string, string>>,
  value: number,
  deadlineMs?: number,
): Promise<void> {
  const what = `${name}${JSON.stringify(labels)} is ${value}`
  await until(what, async () => (await metric(gateway, name, labels)) === value, deadlineMs)
}
