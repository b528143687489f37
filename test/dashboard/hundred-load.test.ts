/** An account of a hundred endpoints with 60 days of usage by the hour: what its pages transfer, and that nobody else notices. */
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { Bystander } from '../support/bystander.ts'
import { noBrowser, openTab, signIn, startBrowser } from './support/browser.ts'
import { crowdedGateway } from './support/crowded-gateway.ts'
import { LONG_SPANS, PAGES } from './support/pages.ts'
import { Transfers } from './support/transfers.ts'

/** Bytes of API data of a page, as they are transferred. */
const MOST = 200_000

t.test('60 days of a hundred endpoints', { skip: noBrowser }, async t => {
  const { gateway, crowd } = await crowdedGateway(t, { days: 60 })
  const other = await createAccess(gateway, 'paid', 'alpha')
  await gateway.start()
  await gateway.headKnown('alpha')
  const { page, complaints } = await openTab(await startBrowser(t))
  const transfers = new Transfers(page)
  await signIn(page, gateway.url, crowd.token)
  const bystander = new Bystander(other)
  t.teardown(() => bystander.stop())
  /** The browser itself takes what this machine has: the pages are those that need nothing of the ledger. */
  const networks = async () => {
    for (let time = 0; time < 5; time += 1) {
      await page.goto('about:blank')
      await page.goto(`${gateway.url}/#/networks`)
      await page.getByText('Beta Chain').waitFor()
      await bystander.calls(20)
    }
  }
  await networks()
  bystander.took.length = 0
  await networks()
  const idle = bystander.slowest
  bystander.took.length = 0

  for (const [path, ready] of [...PAGES(crowd.endpoints[0]!.id), ...LONG_SPANS]) {
    const bytes = await transfers.during(async () => {
      await page.goto('about:blank')
      await page.goto(`${gateway.url}/#/${path}`)
      await page.locator(ready).first().waitFor()
    })
    t.ok(bytes > 0 && bytes < MOST, `${path}: ${bytes} bytes`)
  }
  t.ok(bystander.took.length > 100)
  t.strictSame(bystander.failures, [], 'every call of another account was answered')
  // A loop that is blocked for one of the sums of 60 days would be for as long as that takes.
  t.ok(
    bystander.slowest < 3 * idle + 300,
    `the slowest call of another account took ${bystander.slowest.toFixed()} ms, beside other pages ${idle.toFixed()} ms`,
  )

  await t.test('a long span is not asked for again and again', async t => {
    const asked = async (path: string): Promise<number> => {
      await page.goto('about:blank')
      await page.goto(`${gateway.url}/#/${path}`)
      await page.locator('canvas').waitFor()
      await page.waitForLoadState('networkidle')
      await transfers.during(async () => {
        await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
        // What is looked at anew is: the account, whatever the page.
        await page.waitForResponse(reply => reply.url().endsWith('/api/rpc'))
      })
      return transfers.calls.filter(body => body.includes('"service_usage"')).length
    }
    t.equal(await asked('usage?range=90d'), 0)
    t.equal(await asked('usage?range=last-month'), 0)
    t.ok((await asked('usage')) > 0)
  })
  t.strictSame(complaints, [])
})
