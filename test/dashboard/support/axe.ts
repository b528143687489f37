import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/**
 * What axe has against the page as it is, by these rules or by all of its own, one line each; of a part of it where that is given, such as the dialog that
 * is open over a page.
 */
export async function violations(
  page: Page,
  rules: readonly string[] | null = null,
  part = 'html',
): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe)
  // What it has nothing against is not of interest, and takes as long to be put into words.
  const options = { resultTypes: ['violations'], ...(rules === null ? {} : { runOnly: rules }) }
  const found = await page.evaluate<Violation[]>(
    `axe.run(${JSON.stringify(part)}, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )
  return found.flatMap(({ id, nodes }) => nodes.map(one => `${id}: ${one.html}: ${one.failureSummary}`))
}
