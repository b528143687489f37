/** What the dashboard says of a young account, of one call, of long names and of several mistakes. */
import t from 'tap'
import type { Endpoint } from '../../dashboard/src/api/types.ts'
import { noBrowser } from './support/browser.ts'
import { startJourney } from './support/journey.ts'

/** Milliseconds until the hour of a first call is written down, and a margin. */
const WRITTEN_DOWN = 15_000

t.test('texts for an owner', { skip: noBrowser }, async t => {
  const { app, page, button, refresh, gateway, complaints } = await startJourney(t)
  const section = (name: string) => page.getByRole('region', { name })
  const main = async () => (await page.locator('#main').textContent()) ?? ''

  await t.test('nothing is said of two days under a heading of one', async t => {
    await page.goto(`${gateway.url}/#/endpoints/${app.endpointId}`)
    await section('Last 24 hours').getByText('No calls in the last 24 hours').waitFor()
    t.notMatch(await main(), 'two days')
  })

  await t.test('one call is 1 request unit, and was just made', async t => {
    await app.call('eth_gasPrice')
    await refresh()
    await page.getByText('1 request unit', { exact: true }).first().waitFor()
    t.match(await page.locator('.facts').first().textContent(), /last used: (just now|this hour)/)
    t.match(await section('Last 24 hours').textContent(), /1 request unit /)
    t.notMatch(await main(), /\b1 (requests|request units)\b/)
    await page.goto(`${gateway.url}/#/endpoints`)
    const row = page.getByRole('row', { name: /app/ })
    await row.getByText('this hour').waitFor({ timeout: WRITTEN_DOWN })
    await page.goto(`${gateway.url}/#/`)
    await page
      .getByText(/^1 request unit/)
      .first()
      .waitFor()
    t.notMatch(await main(), /\b1 (requests|request units)\b|No calls yet/)
  })

  await t.test('methods begin with those that can be called', async t => {
    const cannot = async (at: number) => {
      await page.goto(`${gateway.url}/#/methods?network=alpha&page=${at}`)
      await page.locator('table.methods tbody tr').first().waitFor()
      const rows = await page.locator('table.methods tbody tr').allTextContents()
      return rows.map(row => /not in your plan|not offered/.test(row))
    }
    const [first, last] = [await cannot(1), await cannot(999)]
    t.equal(first[0], false)
    t.equal(last.at(-1), true)
    for (const said of [first, last]) t.strictSame(said, [...said].sort())
  })

  await t.test('all wrong fields are reported at once', async t => {
    await page.goto(`${gateway.url}/#/endpoints/${app.endpointId}`)
    const card = section('What the key may be used for')
    await card.getByLabel('Allowed origins').fill('nonsense')
    await card.getByLabel('Allowed addresses').fill('also nonsense')
    await card.getByLabel('Request units a second').fill('1.5')
    await card.getByLabel('Request units a day').fill('ten')
    await button('Save', card).click()
    const alert = card.getByRole('alert')
    await alert.waitFor()
    t.match(
      await alert.textContent(),
      /Allowed origins are web pages.*\. Allowed addresses are IP addresses.*\. Request units a second are a whole.*\. Request units a day are/,
    )
  })

  await t.test('bug: a date that was typed by half took away when the key expires', async t => {
    const expiresAt = Date.UTC(2100, 0, 1) / 1000
    await app.managed('service_updateEndpoint', [{ endpointId: app.endpointId, expiresAt }])
    await page.goto(`${gateway.url}/#/endpoints`)
    await refresh()
    await page.goto(`${gateway.url}/#/endpoints/${app.endpointId}`)
    const card = section('What the key may be used for')
    const date = card.getByLabel('Key expires')
    await card.locator('input[type=date]:not(.unset)').waitFor()
    t.equal(await date.inputValue(), '2100-01-01')
    await date.press('Backspace')
    t.equal(await date.inputValue(), '')
    await button('Save', card).click()
    t.equal(await card.locator('input:invalid').count(), 1)
    const expires = async () => {
      const endpoint: Endpoint = await app.managed('service_getEndpoint', { endpointId: app.endpointId })
      return endpoint.expiresAt
    }
    t.equal(await expires(), expiresAt)
    await date.fill('2100-01-02')
    await date.fill('')
    await button('Save', card).click()
    await page.getByText('Saved; it holds from now on').waitFor()
    t.equal(await expires(), null, 'a whole date can be taken away')
  })

  await t.test('of several networks none is chosen beforehand', async t => {
    await page.goto(`${gateway.url}/#/endpoints`)
    await button('Create endpoint').click()
    await page.getByLabel('Sol Chain').waitFor()
    t.equal(await page.locator('dialog input[type=radio]').count(), 2)
    t.equal(await page.locator('dialog input[type=radio]:checked').count(), 0)
    t.ok(await button('Create').isDisabled())
    await button('Cancel').click()
  })

  await t.test('a long name wraps, and is whole in its title', async t => {
    const long = `production-${'wallet'.repeat(8)}`
    await app.managed('service_createEndpoint', [{ chain: 'alpha', name: long }])
    await page.setViewportSize({ width: 1280, height: 800 })
    await refresh()
    const link = page.getByRole('link', { name: long })
    await link.waitFor()
    t.equal(await link.getAttribute('title'), long)
    const heightOf = async (name: string) =>
      (await page.getByRole('link', { name, exact: true }).boundingBox())!.height
    t.ok((await heightOf(long)) > 1.5 * (await heightOf('app')), 'it has several lines')
    t.ok(
      (await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')) <= 0,
      'the page fits',
    )
  })

  t.strictSame(complaints, [])
})
