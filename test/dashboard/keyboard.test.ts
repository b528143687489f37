import t from 'tap'
import { message } from '../support/access.ts'
import { until } from '../support/until.ts'
import { noBrowser, openTab } from './support/browser.ts'
import { post, startJourney } from './support/journey.ts'
import { sinceNoon, writePastUsage } from './support/past-usage.ts'

t.test('a keyboard is enough for every journey', { skip: noBrowser }, async t => {
  const now = new Date()
  const [year, month, date] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  const {
    gateway,
    owner,
    page: other,
  } = await startJourney(t, (gateway, { accountId, endpointId }) => {
    const of = { account: accountId, endpoint: endpointId, network: 'sol', method: 'getSlot' }
    writePastUsage(gateway, [
      { ...of, hoursAgo: sinceNoon(year, month - 1, 3), calls: 300 },
      { ...of, hoursAgo: sinceNoon(year, month - 2, 5), calls: 200 },
      { ...of, hoursAgo: sinceNoon(year, month, date - 1), calls: 40, refused: { rate_limited: 7 } },
    ])
  })
  const { page, complaints } = await openTab(other.context().browser()!, {
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
  const tabTo = async (name: RegExp, key = 'Tab') => {
    const seen: string[] = []
    for (;;) {
      const now = await focused()
      if (name.test(now)) return
      seen.push(now)
      if (seen.length > 60) throw new Error(`Tab does not lead to ${name}: ${seen.join(', ')}`)
      await press(key)
    }
  }
  /** What is in the clipboard once it begins like this. */
  const copied = (begin: string) =>
    until(`${begin} is copied`, async () => {
      const text = await page.evaluate<string>('navigator.clipboard.readText()')
      return text.startsWith(begin) && text
    })
  /** Begins at the top of a page again, and goes to another one from there. */
  const open = async (link: RegExp, heading: string) => {
    await page.reload()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await tabTo(link)
    await press('Enter')
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
  }

  let url = ''

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
    await open(/^endpoints$/, 'Endpoints')
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
    const [, url] = /(http:\S+)/.exec(await copied('curl '))!
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
    await page.locator('dialog').waitFor({ state: 'detached' })
    t.equal(await focused(), 'Rotate key', 'also after Escape')
    await press('Enter')
    await tabTo(/^The old key works for/)
    await page.keyboard.type('not')
    await tabTo(/^Rotate$/)
    await press('Enter')
    await page.getByText('the old one is refused').waitFor()
    t.equal(await focused(), 'Rotate key')
    await tabTo(/^Copy HTTPS URL$/)
    await press('Enter')
    url = await copied('http')
    t.equal((await post(url, message('eth_gasPrice'))).status, 200)
  })

  await t.test('a call is tried', async () => {
    await tabTo(/^Method/)
    await press('Control+a')
    await page.keyboard.type('eth_gasPrice')
    await press('Escape', 'Enter')
    await page.getByLabel('Reply', { exact: true }).getByText('0x3b9aca00').waitFor()
  })

  await t.test('the key is restricted', async () => {
    await tabTo(/^Request units a second/)
    await page.keyboard.type('1')
    await tabTo(/^Save$/)
    await press('Enter')
    await until('it is', async () => (await post(url, message('eth_gasPrice'))).status === 429)
  })

  await t.test('two months are compared', async t => {
    await open(/^usage$/, 'Usage')
    await tabTo(/^Time$/)
    await page.keyboard.type('last m')
    await tabTo(/^Compare with the month before/)
    await press('Space')
    await page.getByText(/compared with/).waitFor()
    t.match(await page.locator('#main').textContent(), '300 request units +50% from 200')
    t.equal(await focused(), 'Compare with the month before', 'the focus stays where it was')
  })

  await t.test('why calls failed yesterday, on which endpoint, by which method and when', async t => {
    await open(/^usage$/, 'Usage')
    await tabTo(/^Time$/)
    await page.keyboard.type('y')
    const reasons = page.getByRole('region', { name: 'Refused calls by reason' })
    await reasons.getByText('Too many request units a second').waitFor()
    await tabTo(/^first$/)
    await press('Enter')
    await page.getByRole('region', { name: 'Usage by method' }).getByText('getSlot').waitFor()
    await tabTo(/^Every hour$/)
    await press('Enter')
    const hours = page.getByRole('region', { name: 'Request units by method, every hour' })
    t.match(await hours.locator('tbody').textContent(), /^\d+ \w{3}, 12:0040$/)
  })

  await t.test('an alert is set, and its secret copied', async () => {
    await open(/^settings$/, 'Settings')
    await tabTo(/^URL/)
    await page.keyboard.type('https://hooks.example.com/services/T1')
    await press('Enter')
    await page.getByText('Secret of the webhook').waitFor()
    await tabTo(/^Copy Secret of the webhook$/, 'Shift+Tab')
    await press('Enter')
    await copied('whsec_')
    await press('Tab', 'Enter')
    await page.getByText('Secret of the webhook').waitFor({ state: 'detached' })
  })
  t.strictSame(complaints, [])
})
