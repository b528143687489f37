import type { Page, Request } from 'playwright-core'

/** What a page gets from the API. */
export class Transfers {
  /** The bodies of the calls, in their order. */
  calls: string[] = []
  readonly #page: Page
  #replies: Promise<number>[] = []

  constructor(page: Page) {
    this.#page = page
    page.on('request', request => {
      if (isCall(request)) this.calls.push(request.postData() ?? '')
    })
    page.on('response', reply => {
      const request = reply.request()
      if (!isCall(request)) return
      // What is on its way to a page that is left is of no page.
      this.#replies.push(
        reply
          .finished()
          .then(() => request.sizes())
          .then(
            ({ responseBodySize }) => responseBodySize,
            () => 0,
          ),
      )
    })
  }

  /** Bytes of replies, as they were sent, to the calls that something makes; all calls are over then. */
  async during(work: () => Promise<unknown>): Promise<number> {
    this.calls = []
    this.#replies = []
    await work()
    await this.#page.waitForLoadState('networkidle')
    return (await Promise.all(this.#replies)).reduce((sum, size) => sum + size, 0)
  }
}

const isCall = (request: Request): boolean => request.url().endsWith('/api/rpc')
