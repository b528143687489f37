import t from 'tap'
import { message } from '../support/access.ts'
import { until } from '../support/until.ts'
import { noBrowser, openTab, signIn } from './support/browser.ts'
import { post, startJourney } from './support/journey.ts'

const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }

t.test('an owner moves between a desktop and a phone, and needs no mouse', { skip: noBrowser }, async t => {
  const { gateway, owner, app, page, complaints, button } = await startJourney(t)
  const browser = page.context().browser()!
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
  t.strictSame(complaints, [])

  await t.test('a keyboard is enough to make an endpoint, use it and rotate its key', async t => {
    const { page, complaints } = await openTab(browser, {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    /** What has the focus, as it is called; nothing when that is the page. */
    const focused = async () => {
      const name = await page.evaluate<string>(
        "(one => one.ariaLabel ?? one.labels?.[0]?.textContent ?? (one === document.body ? '' : one.textContent))(document.activeElement)",
      )
      return name.trim()
    }
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key)
    }
    /** Presses Tab until something has the focus. */
    const tabTo = async (name: RegExp) => {
      const seen: string[] = []
      for (;;) {
        const now = await focused()
        if (name.test(now)) return
        seen.push(now)
        if (seen.length > 60) throw new Error(`Tab does not lead to ${name}: ${seen.join(', ')}`)
        await press('Tab')
      }
    }
    const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()')

    await page.goto(`${gateway.url}/`)
    await page.locator('input:focus').waitFor()
    await page.keyboard.type(owner.token)
    await press('Enter')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()

    await t.test('the first stop leads past the navigation', async t => {
      await press('Tab')
      t.equal(await focused(), 'Skip to content')
      await press('Enter')
      t.equal(await page.evaluate('document.activeElement.id'), 'main')
    })

    await t.test('an endpoint is created', async t => {
      await page.reload()
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await tabTo(/^endpoints$/)
      await press('Enter')
      await page.getByRole('heading', { name: 'Endpoints', level: 1 }).waitFor()
      t.equal(await focused(), 'Endpoints', 'the focus follows to the new page')
      await press('Tab')
      t.equal(await focused(), 'Create endpoint')
      await press('Enter')
      await page.getByLabel('Alpha Chain').waitFor()
      await tabTo(/^Alpha Chain/)
      await press('Space')
      await tabTo(/^Name/)
      await page.keyboard.type('by keyboard')
      await press('Enter')
      await page.getByRole('heading', { name: 'by keyboard' }).waitFor()
      t.equal(await focused(), 'by keyboard')
    })

    await t.test('another snippet is chosen by arrows, and copied', async t => {
      await tabTo(/^Copy curl snippet$/)
      await press('Tab', 'ArrowRight')
      t.equal(await focused(), 'viem')
      await press('ArrowLeft', 'ArrowLeft')
      t.equal(await focused(), 'WSS', 'around the end')
      await press('ArrowRight', 'Shift+Tab')
      t.equal(await focused(), 'Copy curl snippet')
      await press('Enter')
      const snippet = await until('the snippet is copied', async () => {
        const text = await clipboard()
        return text.startsWith('curl ') && text
      })
      const [, url] = /(http:\S+)/.exec(snippet)!
      t.equal((await post(url!, message('eth_gasPrice'))).status, 200)
    })

    await t.test('its key is rotated, and the focus comes back', async t => {
      await press('Shift+Tab')
      await page.reload()
      await page.getByRole('button', { name: 'Rotate key' }).waitFor()
      await tabTo(/^Rotate key$/)
      await press('Enter')
      await page.getByRole('dialog').waitFor()
      await press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      t.equal(await focused(), 'Rotate key', 'also after Escape')
      await press('Enter')
      await page.getByRole('dialog').waitFor()
      await tabTo(/^The old key works for/)
      await page.keyboard.type('not')
      await tabTo(/^Rotate$/)
      await press('Enter')
      await page.getByText('the old one is refused').waitFor()
      t.equal(await focused(), 'Rotate key')
      await tabTo(/^Copy HTTPS URL$/)
      await press('Enter')
      const url = await until('the URL is copied', async () => {
        const text = await clipboard()
        return text.startsWith('http') && text
      })
      t.equal((await post(url, message('eth_gasPrice'))).status, 200)
    })
    t.strictSame(complaints, [])
  })
})
