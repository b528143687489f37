import type { Page } from 'playwright-core'

/** What a page gets from the API. */
export class Transfers {
  /** The bodies of the calls, in their order. */
  calls: string[] = []
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
    page.on('request', request => {
      if (request.url().endsWith('/api/rpc')) this.calls.push(request.postData() ?? '')
    })
  }

  /** Bytes of replies, as they were sent, to the calls that the page shown at the end has made since; all calls are over then. */
  async during(work: () => Promise<unknown>): Promise<number> {
    this.calls = []
    await this.#page.evaluate('performance.clearResourceTimings()')
    await work()
    await this.#page.waitForLoadState('networkidle')
    // As the browser counts them: a promise for the sizes of a reply may never settle where its page was left meanwhile.
    return this.#page.evaluate<number>(
      `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/api/rpc')).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
    )
  }
}
