import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** What axe has against the page as it is, by these rules or by all of its own, one line each. */
export async function violations(page: Page, rules: readonly string[] | null = null): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe)
  const options = rules === null ? {} : { runOnly: rules }
  const found = await page.evaluate<Violation[]>(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )
  return found.flatMap(({ id, nodes }) => nodes.map(one => `${id}: ${one.html}: ${one.failureSummary}`))
}
