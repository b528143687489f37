import t from 'tap'
import { prepareGateway } from '../support/gateway.ts'
import { withAccounts } from '../support/accounts.ts'
import { startNode } from '../support/scripted-node.ts'
import { violations } from './support/axe.ts'
import { noBrowser, openTab, signIn, startBrowser } from './support/browser.ts'
import { writeCrowd } from './support/crowd.ts'
import { cutParts } from './support/cut.ts'
import { createOwner } from './support/owner.ts'
import { writePastUsage } from './support/past-usage.ts'

/** Names that an owner may give, and a page may not break at. */
const ODD = ['W'.repeat(64), 'שלום עולם (בדיקה)', '🦊🚀'.repeat(30), '<b onclick="x">bold</b>']

/** Every screen, light and dark. Only the contrast of what is there is a matter of colours. */
const LOOKS = [
  { look: 'a desktop', colorScheme: 'light', viewport: { width: 1280, height: 900 }, rules: null },
  {
    look: 'a dark desktop',
    colorScheme: 'dark',
    viewport: { width: 1180, height: 800 },
    rules: ['color-contrast'],
  },
  { look: 'a phone', colorScheme: 'light', viewport: { width: 390, height: 800 }, rules: null },
  {
    look: 'a small, dark phone',
    colorScheme: 'dark',
    viewport: { width: 360, height: 740 },
    rules: ['color-contrast'],
  },
] as const

t.test(
  'axe has nothing against any page or dialog of a hundred endpoints, and nothing is cut, on any screen',
  { skip: noBrowser },
  async t => {
    const node = await startNode(t, { chainId: 1001 })
    const gateway = await prepareGateway(t, {
      networks: {
        alpha: { chainId: 1001, name: 'Alpha Chain' },
        sol: { family: 'solana', chainId: 'solana-test', name: 'Sol Chain' },
        gone: { chainId: 1002, name: 'Gone Chain' },
      },
      routes: [
        { id: 'alpha-a', network: 'alpha', http: node.url, capabilities: ['archive'] },
        { id: 'sol-a', network: 'sol', http: node.url },
        { id: 'gone-a', network: 'gone', http: node.url, capabilities: ['trace'] },
      ],
      gateway: { dashboardHost: '127.0.0.1' },
      plans: {
        small: {
          tiers: ['any'],
          rate: { perSecond: 9, burst: 90 },
          quota: { requests: 40_000_000, every: '30d' },
        },
      },
    })
    const crowd = await writeCrowd(gateway, {
      networks: ['alpha', 'sol'],
      plan: 'small',
      count: 100,
      days: 3,
    })
    const [first] = crowd.endpoints
    const ids = { account: crowd.accountId, endpoint: 'ep_deleted', network: 'alpha' }
    writePastUsage(gateway, [{ ...ids, method: 'eth_call', hoursAgo: 1, calls: 9_000_000, errors: 3 }])
    await withAccounts(gateway, async store => {
      await store.accounts.change(crowd.accountId, { name: 'ACCOUNT'.repeat(9) })
      for (const [i, name] of ODD.entries()) {
        const labels = { ['name'.repeat(15)]: 'W'.repeat(64), a: '', b: '', c: '', d: '' }
        await store.endpoints.change(crowd.accountId, crowd.endpoints[i + 1]!.id, { name, labels })
      }
    })
    const empty = await createOwner(gateway, 'alpha')
    await gateway.start()
    await gateway.headKnown('alpha')
    const { page, complaints } = await openTab(await startBrowser(t))

    const clean = async (what: string, part?: string) => {
      for (const { look, rules, viewport, colorScheme } of LOOKS) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize(viewport)
        t.strictSame(await violations(page, rules, part), [], `${look}: ${what}`)
        t.strictSame(await cutParts(page), [], `${look}: ${what} is whole`)
      }
    }
    const visit = async (path: string, ready: string) => {
      await page.goto(`${gateway.url}/#/${path}`)
      await page.getByText(ready).first().waitFor()
    }
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const dialog = async (name: string) => {
      await button(name).click()
      await page.getByRole('dialog').waitFor()
      // The page behind it was looked at before.
      await clean(`the dialog of "${name}"`, 'dialog[open]')
      await button('Cancel').click()
    }

    await page.goto(`${gateway.url}/`)
    await button('Sign in').waitFor()
    await clean('signing in')
    await page.getByLabel('Dashboard token or API key').fill('tg_wrong')
    await button('Sign in').click()
    await page.getByRole('alert').waitFor()
    await clean('a wrong token')

    await signIn(page, gateway.url, crowd.token)
    await page.getByText(/% used|Used up/).waitFor()
    await page.getByRole('link', { name: 'production 1', exact: true }).waitFor()
    await page.getByText('Why calls were refused').waitFor()
    await clean('overview')

    await visit('endpoints', '1–50 of 100')
    await page.getByLabel('Choose production 1', { exact: true }).check()
    await clean('endpoints')
    await dialog('Deactivate')
    // The account is full.
    await dialog('Create endpoint')
    await visit('endpoints?q=nothing', 'No endpoint matches')
    await clean('no endpoint')

    await visit(`endpoints/${first!.id}`, 'Try it')
    await page.getByText('against the 24 hours before').waitFor()
    await button('Reveal the key of production 1').click()
    await page.getByText(first!.key).first().waitFor()
    await button('Send').click()
    await page.getByText('Reply').waitFor()
    await clean('an endpoint')
    for (const name of ['Name and labels', 'Rotate key']) await dialog(name)
    await visit(`endpoints/${crowd.endpoints[1]!.id}`, 'Try it')
    await dialog('Delete')
    await visit('endpoints/ep_nope', 'There is no such endpoint')
    await clean('an endpoint that is not there')

    await visit('usage?compare=before', 'Request units by endpoint')
    await page.locator('canvas').waitFor()
    await page.getByText('Every hour').click()
    await page.getByRole('region', { name: 'Request units by endpoint, every hour' }).waitFor()
    await clean('usage')
    await visit('usage?split=reason&range=custom&from=2025-01-01&to=2025-02-01', 'No usage in this span')
    await clean('no usage')
    await visit('usage?split=reason&range=7d', 'Refused calls by reason')
    await page.locator('canvas').waitFor()
    await clean('usage by reason')

    await visit('methods', 'eth_accounts')
    await clean('methods')
    await visit('networks', 'Gone Chain')
    await clean('networks')

    await visit('settings', 'What has changed')
    await page.getByText('Endpoint created').first().waitFor()
    await page.getByLabel('URL').fill('https://hooks.example.com/services/T1')
    await button('Save').click()
    await page.getByText('Secret of the webhook').waitFor()
    await clean('settings')
    await dialog('Replace')

    await visit('nope', 'There is no page at this address')
    await clean('an unknown page')

    await button('Sign out').click()
    await signIn(page, gateway.url, empty.token)
    await page.getByText('No calls yet').first().waitFor()
    await clean('overview of a new account')
    await page.goto(`${gateway.url}/#/endpoints`)
    await page.getByRole('link', { name: 'first' }).waitFor()
    await dialog('Create endpoint')
    t.strictSame(complaints, [])
  },
)
