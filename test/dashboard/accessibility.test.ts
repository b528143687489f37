import t from 'tap'
import { prepareGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { violations } from './support/axe.ts'
import { noBrowser, openTab, signIn, startBrowser } from './support/browser.ts'
import { createOwner } from './support/owner.ts'
import { writePastUsage } from './support/past-usage.ts'

t.test(
  'axe has nothing against any page, light or dark, and all fit a phone',
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
        small: { tiers: ['any'], rate: { perSecond: 9, burst: 90 }, quota: { requests: 100, every: '30d' } },
      },
    })
    const owner = await createOwner(gateway, 'alpha', 'small')
    const ids = { account: owner.accountId, endpoint: owner.endpointId, network: 'alpha' }
    const methods = ['eth_call', 'eth_getLogs', 'a', 'b', 'c', 'd', 'e', 'f', 'g']
    writePastUsage(
      gateway,
      methods.flatMap((method, i) => [
        {
          ...{ ...ids, method, hoursAgo: i, calls: 20 - i, errors: i, ms: 12 },
          refused: { rate_limited: i, invalid_params: 2 },
        },
        { ...ids, endpoint: 'ep_deleted', method, hoursAgo: 1, calls: 2 },
      ]),
    )
    const empty = await createOwner(gateway, 'alpha')
    await gateway.start()
    await gateway.headKnown('alpha')
    const browser = await startBrowser(t)

    // Light or dark is a matter of colours, and a screen's width one of where things are: each is seen once.
    const looks = [
      { look: 'light', colorScheme: 'light', viewport: { width: 1180, height: 800 } },
      { look: 'dark, on a phone', colorScheme: 'dark', viewport: { width: 360, height: 740 } },
    ] as const
    for (const { look, ...options } of looks) {
      const { page, complaints } = await openTab(browser, options)
      const clean = async (what: string) => {
        t.strictSame(await violations(page), [], `${look}: ${what}`)
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        t.ok(wide <= 0, `${look}: ${what} fits the screen (${wide})`)
      }
      const visit = async (path: string, ready: string) => {
        await page.goto(`${gateway.url}/#/${path}`)
        await page.getByText(ready).first().waitFor()
      }
      const button = (name: string) => page.getByRole('button', { name, exact: true })

      await page.goto(`${gateway.url}/`)
      await button('Sign in').waitFor()
      await clean('signing in')
      await page.getByLabel('Dashboard token or API key').fill('tg_wrong')
      await button('Sign in').click()
      await page.getByRole('alert').waitFor()
      await clean('a wrong token')

      await signIn(page, gateway.url, owner.token)
      await page.getByText(/% used|Used up/).waitFor()
      await page.getByRole('link', { name: 'first' }).waitFor()
      await clean('overview')

      await page.goto(`${gateway.url}/#/endpoints`)
      await page.getByLabel('Choose first').check()
      await clean('endpoints')
      await button('Create endpoint').click()
      await page.getByLabel('Sol Chain').check()
      await clean('creating an endpoint')
      await button('Cancel').click()

      await visit(`endpoints/${owner.endpointId}`, 'Try it')
      await button('Reveal the key of first').click()
      await page.getByText(owner.key).first().waitFor()
      await button('Send').click()
      await page.getByText('Reply').waitFor()
      await clean('an endpoint')
      await button('Rotate key').click()
      await clean('rotating a key')
      await button('Cancel').click()
      await button('Delete').click()
      await clean('deleting an endpoint')
      await button('Cancel').click()
      await visit('endpoints/ep_nope', 'There is no such endpoint')
      await clean('an endpoint that is not there')

      await visit('usage?split=method&compare=before', 'Requests by method')
      await page.locator('canvas').waitFor()
      await page.getByText('Every hour').click()
      await page.getByRole('region', { name: 'Requests by method, every hour' }).waitFor()
      await clean('usage')
      await visit('usage?split=reason&range=7d', 'Refused calls by reason')
      await page.locator('canvas').waitFor()
      await clean('usage by reason')

      await visit('methods', 'eth_accounts')
      await clean('methods')

      await visit('networks', 'Gone Chain')
      await clean('networks')

      await visit('settings', 'What has changed')
      await page.getByText('Endpoint created').first().waitFor()
      await button('Replace').click()
      await clean('replacing the token')
      await button('Cancel').click()
      await clean('settings')

      await visit('nope', 'There is no page at this address')
      await clean('an unknown page')

      await button('Sign out').click()
      await signIn(page, gateway.url, empty.token)
      await page.getByText('No calls yet').first().waitFor()
      await clean('overview of a new account')
      await visit('usage', 'No usage in this span')
      await clean('usage of a new account')
      t.strictSame(complaints, [], `${look}: no complaints`)
      await page.context().close()
    }
  },
)
