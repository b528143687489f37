import t from 'tap'
import { until } from '../support/until.ts'
import { noBrowser, openTab, signIn } from './support/browser.ts'
import { startJourney } from './support/journey.ts'
import { createOwner } from './support/owner.ts'

const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }

t.test(
  'an owner moves between a desktop and a phone, accounts and sessions, until the gateway goes',
  { skip: noBrowser },
  async t => {
    const { gateway, owner, app, page, complaints, button, refresh } = await startJourney(t)
    for (const name of ['b', 'a', 'c'])
      await app.managed('service_createEndpoint', [{ chain: 'alpha', name: `stage ${name}` }])
    const names = async (of = page) => of.locator('tbody th').allTextContents()
    const wide = async () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')

    await t.test('a narrow window keeps filters, order, choice and an open dialog', async t => {
      await page.setViewportSize(DESKTOP)
      await page.getByRole('link', { name: 'endpoints', exact: true }).click()
      await page.getByLabel('Search endpoints').fill('stage')
      await page.getByLabel('Network').selectOption('alpha')
      await page.getByRole('link', { name: 'Name' }).click()
      t.strictSame(await names(), ['stage a', 'stage b', 'stage c'])
      await page.getByLabel('Choose stage b').check()
      await button('Create endpoint').click()
      await page.getByLabel('Sol Chain').check()
      await page.getByRole('textbox', { name: 'Name' }).fill('half typed')
      const address = page.url()
      for (const size of [PHONE, DESKTOP, PHONE]) {
        await page.setViewportSize(size)
        t.ok((await wide()) <= 0, `fits ${size.width}`)
        t.equal(page.url(), address)
        t.ok(await page.getByRole('dialog').isVisible())
        t.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), 'half typed')
        t.ok(await page.getByLabel('Sol Chain').isChecked())
        t.equal(await page.getByLabel('Search endpoints').inputValue(), 'stage')
        t.ok(await page.getByLabel('Choose stage b').isChecked())
        t.strictSame(await names(), ['stage a', 'stage b', 'stage c'])
      }
      await button('Cancel').click()
      t.ok(await page.getByText('1 endpoint chosen').isVisible())
    })

    await t.test('the address of a desktop opens the same on a phone, and back', async t => {
      const browser = page.context().browser()!
      const { page: phone, complaints } = await openTab(browser, {
        viewport: PHONE,
        hasTouch: true,
        isMobile: true,
      })
      await signIn(phone, gateway.url, owner.token)
      await phone.goto(page.url())
      await phone.getByRole('link', { name: 'stage a' }).waitFor()
      t.strictSame(await names(phone), ['stage a', 'stage b', 'stage c'])
      t.equal(await phone.getByLabel('Network').inputValue(), 'alpha')
      t.equal(await phone.getByLabel('Sort by').inputValue(), 'name')
      await phone.getByLabel('Sort by').selectOption('-created')
      t.strictSame(await names(phone), ['stage c', 'stage a', 'stage b'])
      await page.setViewportSize(DESKTOP)
      await page.goto(phone.url())
      const head = page.getByRole('columnheader', { name: 'Created' })
      t.equal(await head.getAttribute('aria-sort'), 'descending')
      t.strictSame(await names(), ['stage c', 'stage a', 'stage b'])
      t.strictSame(complaints, [])
      await phone.context().close()
    })

    await t.test('a plot takes the width that there is', async t => {
      await page.goto(`${gateway.url}/#/usage?split=method&range=7d`)
      await app.call('eth_gasPrice')
      await page.reload()
      const plot = page.locator('.chart canvas')
      await plot.waitFor()
      const width = async () => (await plot.boundingBox())!.width
      const before = await width()
      await page.setViewportSize(PHONE)
      await until('the plot is drawn anew', async () => (await width()) < PHONE.width)
      t.ok(before > PHONE.width)
      t.ok((await wide()) <= 0)
      t.equal(await page.getByLabel('Time', { exact: true }).inputValue(), '7d')
      t.equal(await page.getByLabel('Split').inputValue(), 'method')
    })

    await page.setViewportSize(DESKTOP)
    const other = await createOwner(gateway, 'alpha', 'small')
    /** What another tab of the same browser asks of the session that they share. */
    const elsewhere = (method: string, body: object) =>
      page.evaluate<number>(
        `fetch('/api/session', { method: '${method}', headers: { 'content-type': 'application/json' }, body: '${JSON.stringify(body)}' }).then(({ status }) => status)`,
      )

    await t.test('bug: a tab mixed two accounts after a second tab had signed in to another one', async t => {
      await page.getByRole('link', { name: 'endpoints', exact: true }).click()
      await page.getByRole('link', { name: 'app' }).waitFor()
      t.equal(await elsewhere('POST', { secret: other.token }), 200)
      await Promise.all([page.waitForEvent('load'), refresh()])
      await page.getByRole('link', { name: 'first' }).waitFor()
      t.equal(await page.locator('tbody tr').count(), 1, 'the page begins again, with the other account')
    })

    await t.test(
      'a session that ends in the middle says so, and the page is there again after it',
      async t => {
        await button('Create endpoint').click()
        await page.getByLabel('Sol Chain').check()
        t.equal(await elsewhere('DELETE', {}), 200)
        await button('Create').click()
        await page.getByText('Your session has ended. Please sign in again.').waitFor()
        t.equal(await page.getByRole('dialog').count(), 0)
        await page.getByLabel('Dashboard token or API key').fill(owner.token)
        await button('Sign in').click()
        await page.getByRole('link', { name: 'app' }).waitFor()
        t.match(page.url(), /#\/endpoints$/)
      },
    )

    t.strictSame(complaints, [])

    await t.test('a gateway that goes away is noticed, and what was known stays', async t => {
      await gateway.kill9()
      await page.getByRole('link', { name: 'networks' }).click()
      await page.getByRole('alert').filter({ hasText: 'cannot be reached' }).first().waitFor()
      await page.getByRole('link', { name: 'endpoints', exact: true }).click()
      await page.getByRole('link', { name: 'first' }).waitFor()
      await page.getByRole('link', { name: 'usage', exact: true }).click()
      await page.getByText('Could not load your usage.').waitFor()
      t.ok(await button('Try again').first().isVisible())
    })
  },
)
