import t from 'tap'
import { message } from '../support/access.ts'
import { until } from '../support/until.ts'
import { noBrowser, openTab } from './support/browser.ts'
import { post, startJourney } from './support/journey.ts'

t.test(
  'a keyboard is enough to make an endpoint, use it and rotate its key',
  { skip: noBrowser },
  async t => {
    const { gateway, owner, page: other } = await startJourney(t)
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
  },
)
