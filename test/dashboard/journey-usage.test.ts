import t from 'tap'
import { message } from '../support/access.ts'
import { until } from '../support/until.ts'
import { noBrowser } from './support/browser.ts'
import { post, startJourney } from './support/journey.ts'
import { sinceNoon, writePastUsage } from './support/past-usage.ts'
import type { PastUsage } from './support/past-usage.ts'

t.test('an owner reads what was used, and why calls failed', { skip: noBrowser }, async t => {
  const now = new Date()
  const [year, month, date] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  const { app, page, complaints, button, refresh } = await startJourney(t, (gateway, owner) => {
    const of = { account: owner.accountId, endpoint: owner.endpointId, network: 'sol', method: 'getSlot' }
    // On the first of a month yesterday is of the last one.
    const first = date === 1 ? 1 : 0
    const rows: PastUsage[] = [
      {
        ...of,
        hoursAgo: sinceNoon(year, month - 1, 3),
        calls: 300 - first * 40,
        errors: 3 - first * 2,
        ms: 20,
      },
      { ...of, hoursAgo: sinceNoon(year, month - 2, 5), calls: 200, errors: 20, ms: 10 },
      ...Array.from({ length: 503 }, (_, i) => ({
        ...of,
        endpoint: `ep_gone${i}`,
        hoursAgo: sinceNoon(year, month - 4, 5),
        calls: 1000 - i,
      })),
      {
        ...of,
        hoursAgo: sinceNoon(year, month, date - 1),
        calls: 40,
        errors: 2,
        refused: { rate_limited: 7, plan_required: 3 },
      },
    ]
    writePastUsage(gateway, rows)
  })
  const time = page.getByLabel('Time', { exact: true })
  /** The CSV of what is shown, in a file of that name. */
  const downloaded = async (name = /\.csv$/): Promise<string> => {
    const [file] = await Promise.all([page.waitForEvent('download'), button('Download CSV').click()])
    t.match(file.suggestedFilename(), name)
    const chunks: Buffer[] = []
    for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks).toString()
  }

  await t.test('the figures move with the calls', async t => {
    for (const method of ['eth_gasPrice', 'eth_blockNumber', 'eth_call'])
      await post(app.url, message(method, method === 'eth_call' ? [{ to: `0x${'1'.repeat(40)}` }] : []))
    const today = page.getByRole('region', { name: 'Today (UTC)' })
    await until('the ledger has the error', async () => {
      await refresh()
      return today.getByText('33.3%').isVisible()
    })
    await page.getByText('3 of 1,000 request units').waitFor()
    t.match(await today.textContent(), /Calls today3.*Request units today3.*Error share33\.3%/)
    t.match(await today.textContent(), /Refused today0/)
    t.match(await today.textContent(), /Time at the nodes[\d.]+ ms|Time at the nodes–/)
  })

  await t.test('what is shown is in the URL, and in the file', async t => {
    t.equal((await post(app.url, message('eth_getBlockReceipts', ['latest']))).status, 200)
    await page.getByRole('link', { name: 'usage', exact: true }).click()
    await time.selectOption('today')
    await page.getByLabel('Split').selectOption({ label: 'by method' })
    const methods = page.getByRole('region', { name: 'Usage by method' })
    await methods.getByText('eth_getBlockReceipts').waitFor()
    await page.locator('canvas').waitFor()
    t.match(await methods.textContent(), /eth_getBlockReceipts310 0%0/)
    t.match(page.url(), /#\/usage\?range=today&split=method$/)
    await page.getByLabel('Endpoint', { exact: true }).selectOption({ label: 'first' })
    await page.getByText('No usage in this span').waitFor()
    await page.goBack()
    await methods.waitFor()
    t.match(
      await downloaded(/^usage-by-method-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/),
      /Z,eth_getBlockReceipts,1,3,0,0,\d+,[\d.]*,[\d.]*\r\n/,
    )
  })

  await t.test('last month is compared with the month before', async t => {
    await page.goto(page.url().replace(/#.*/, '#/usage?range=last-month'))
    await page.getByLabel('Compare with the month before').check()
    await page.getByText(/compared with/).waitFor()
    const name = (back: number, last = false) =>
      new Intl.DateTimeFormat('en-GB', {
        day: 'numeric',
        month: 'short',
        year: 'numeric',
        timeZone: 'UTC',
      }).format(last ? Date.UTC(year, month - back + 1, 0) : Date.UTC(year, month - back, 1))
    const main = await page.locator('#main').textContent()
    t.match(
      main,
      `${name(1)} to ${name(1, true)}, compared with ${name(2)} to ${name(2, true)}; all times UTC`,
    )
    t.match(main, '300 request units +50% from 200')
    t.match(main, '1% errors before: 10%')
    t.match(await page.getByRole('region', { name: 'Usage by endpoint' }).textContent(), /first.*300.*\+50%$/)
    t.match(page.url(), /#\/usage\?range=last-month&compare=before$/, 'a link to it can be sent')
    const lines = (await downloaded()).split('\r\n')
    const day = (back: number, date: number) =>
      new Date(Date.UTC(year, month - back, date)).toISOString().slice(0, 10)
    t.match(lines[1], new RegExp(`^${day(2, 5)}T00:00:00Z,ep_\\w+,first,200,`), 'the file has both')
    t.match(lines[2], new RegExp(`^${day(1, 3)}T00:00:00Z,ep_\\w+,first,`))
  })

  await t.test('bug: the smallest groups of very many could not be seen', async t => {
    const day = new Date(Date.UTC(year, month - 4, 5)).toISOString().slice(0, 10)
    await page.goto(page.url().replace(/#.*/, `#/usage?range=custom&from=${day}&to=${day}&page=26`))
    const groups = page.getByRole('region', { name: 'Usage by endpoint' })
    await groups.getByRole('link', { name: '3 smaller ones' }).click()
    await groups.getByText('deleted (ep_gone502)').waitFor()
    t.strictSame(
      await groups.locator('tbody th').allTextContents(),
      [500, 501, 502].map(i => `deleted (ep_gone${i})`),
    )
    await page.getByText('501–503 of 503').waitFor()
  })

  await t.test('why calls failed yesterday', async t => {
    await page.getByRole('link', { name: 'usage', exact: true }).click()
    await time.selectOption('yesterday')
    const reasons = page.getByRole('region', { name: 'Refused calls by reason' })
    await reasons.getByText('Too many request units a second').waitFor()
    t.match(
      await reasons.locator('tbody').textContent(),
      /^Too many request units a second rate_limited770%Spread the calls.*not part of your plan plan_required330%See Methods/,
    )
    await page.getByLabel('Split').selectOption('reason')
    const split = page.getByRole('region', { name: 'Usage by reason' })
    await split.getByText('rate_limited').waitFor()
    t.match(
      await split.locator('tbody').textContent(),
      /^Too many request units a second rate_limited7Spread the calls.*plan_required3See Methods/,
      'what helps is beside the figures, too',
    )
    await page.goBack()
    await page.getByLabel('Show').selectOption('errors')
    const groups = page.getByRole('region', { name: 'Usage by endpoint' })
    await groups.getByRole('link', { name: 'first' }).click()
    const methods = page.getByRole('region', { name: 'Usage by method' })
    await methods.getByText('getSlot').waitFor()
    t.match(
      await methods.locator('tbody').textContent(),
      /^getSlot40402 5%10/,
      'which endpoint and which method',
    )
    await page.getByText('Every hour').click()
    const hours = page.getByRole('region', { name: 'Errors by method, every hour' })
    t.match(await hours.locator('tbody').textContent(), /^\d+ \w{3}, 12:002$/, 'and when')
  })
  t.strictSame(complaints, [])
})
