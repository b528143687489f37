/** An account of a hundred endpoints with days of usage by the hour: what a page transfers, how tall it is, and what an owner finds there. */
import t from 'tap'
import { noBrowser, openTab, signIn, startBrowser } from './support/browser.ts'
import { crowdedGateway } from './support/crowded-gateway.ts'
import { PAGES } from './support/pages.ts'
import { Transfers } from './support/transfers.ts'

/** Three screens at 1280 x 900. */
const TALLEST = 2_700
/** Bytes of API data of a page, as they are transferred. */
const MOST = 200_000

t.test('a hundred endpoints fit their pages', { skip: noBrowser }, async t => {
  const { gateway, crowd } = await crowdedGateway(t, { days: 4 })
  await gateway.start()
  const { page, complaints } = await openTab(await startBrowser(t), {
    viewport: { width: 1280, height: 900 },
  })
  const transfers = new Transfers(page)
  await signIn(page, gateway.url, crowd.token)
  const rows = () => page.locator('tbody tr').count()

  for (const [path, ready] of [
    ...PAGES(crowd.endpoints[0]!.id),
    ['usage?range=7d&by=hour&compare=before', 'text=1–20 of 100'],
    ['usage?range=90d&split=method&show=latency', 'text=eth_getBlockReceipts'],
  ] as const) {
    const bytes = await transfers.during(async () => {
      await page.goto('about:blank')
      await page.goto(`${gateway.url}/#/${path}`)
      await page.locator(ready).first().waitFor()
    })
    const height = await page.evaluate<number>('document.documentElement.scrollHeight')
    t.ok(bytes > 0 && bytes < MOST, `${path}: ${bytes} bytes`)
    t.ok(height <= TALLEST, `${path}: ${height} pixels tall`)
  }

  await t.test('the list is sorted, filtered and paged, and its URL gives it again', async t => {
    await page.goto(`${gateway.url}/#/endpoints`)
    await page.getByRole('link', { name: 'Next' }).click()
    await page.getByText('51–100 of 100').waitFor()
    await page.getByRole('link', { name: 'Request units today' }).click()
    await page.getByText('1–50 of 100').waitFor()
    const heading = page.getByRole('columnheader', { name: 'Request units today' })
    t.equal(await heading.getAttribute('aria-sort'), 'descending', 'the busiest first')
    await page.getByLabel('Status').selectOption('inactive')
    await page.getByText('1–50 of 100').waitFor({ state: 'detached' })
    t.equal(await rows(), 5)
    await page.reload()
    await page.locator('tbody tr').first().waitFor()
    t.equal(await rows(), 5, 'the same after a reload')
    await page.goto(`${gateway.url}/#/endpoints`)
    await page.getByLabel('Label', { exact: true }).selectOption('legacy')
    await page.getByText('1–50 of 100').waitFor({ state: 'detached' })
    const teams = await page.locator('tbody th').allTextContents()
    t.ok(teams.length > 0 && teams.every(text => text.includes('legacy')), 'those of one label')
    t.match(page.url(), /label=legacy$/)
    await page.goto(`${gateway.url}/#/endpoints?q=team%3Ddata`)
    await page.getByText('team=data').nth(teams.length).waitFor()
    const found = await page.locator('tbody th').allTextContents()
    t.ok(
      found.every(text => text.includes('team=data')),
      'or found by what it says',
    )
  })

  await t.test('several are deactivated at a time, and a full account says so', async t => {
    await page.goto(`${gateway.url}/#/endpoints?q=price+bot&network=alpha`)
    await page.getByLabel('Choose all on this page').check()
    const before = await rows()
    await page.getByRole('button', { name: 'Deactivate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
    await page.getByText(/endpoints? deactivated/).waitFor()
    await page.getByLabel('Status').selectOption('active')
    await page.getByText('No endpoint matches').waitFor()
    await page.getByLabel('Status').selectOption('inactive')
    await page.locator('tbody tr').first().waitFor()
    t.equal(await rows(), before)
    await page.getByRole('button', { name: 'Create endpoint' }).click()
    await page.getByText('An account has at most 100 endpoints').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
  })

  await t.test('why calls failed yesterday, and two spans against each other', async t => {
    await page.goto(`${gateway.url}/#/usage`)
    await page.getByLabel('Time', { exact: true }).selectOption('yesterday')
    const reasons = page.getByRole('region', { name: 'Refused calls by reason' })
    await reasons.getByText('Too many request units a second').waitFor()
    await page.getByLabel('Split').selectOption('reason')
    const groups = page.getByRole('region', { name: 'Usage by reason' })
    await groups.getByText('The parameters were wrong').waitFor()
    await page.getByLabel('Compare with before').check()
    await page.getByText(/compared with/).waitFor()
    t.match(page.url(), /range=yesterday&split=reason&compare=before/)
    await page.getByLabel('Time', { exact: true }).selectOption('last-month')
    await page.getByLabel('Compare with the month before').waitFor()
    t.match(page.url(), /range=last-month/)
  })
  t.strictSame(complaints, [])
})
