import type { Locator, Page } from 'playwright-core'
import { freePort } from '../../support/free-port.ts'
import { Access } from '../../support/access.ts'
import { prepareGateway } from '../../support/gateway.ts'
import type { Gateway } from '../../support/gateway.ts'
import { error, result } from '../../support/node-replies.ts'
import { startNode } from '../../support/scripted-node.ts'
import type { ScriptedNode } from '../../support/scripted-node.ts'
import type { Teardown } from '../../support/teardown.ts'
import { until } from '../../support/until.ts'
import { openTab, signIn, startBrowser } from './browser.ts'
import type { Tab } from './browser.ts'
import { createOwner } from './owner.ts'
import type { Owner } from './owner.ts'

/** An owner in front of the dashboard, signed in: two networks, a small plan, an endpoint "first" on Sol Chain and "app" on Alpha Chain. */
export interface Journey extends Tab {
  readonly gateway: Gateway
  readonly node: ScriptedNode
  readonly owner: Owner
  /** The endpoint "app", by its key of the beginning. */
  readonly app: Access
  readonly button: (name: string | RegExp, within?: Page | Locator) => Locator
  /** Presses a button that copies, and gives what is in the clipboard then. */
  readonly copy: (name: string) => Promise<string>
  /** Does something, and waits for the short message about it, which may be gone before somebody looks later. */
  readonly told: (text: string | RegExp, act: () => Promise<unknown>) => Promise<void>
  /** Fetches anew what is on the screen, as the dashboard does from time to time. */
  readonly refresh: () => Promise<void>
}

/** What happens to the gateway before it starts, such as usage of the past. */
export type Before = (gateway: Gateway, owner: Owner) => unknown

/** Starts a gateway with a node and a browser, and signs in. */
export async function startJourney(t: Teardown, before: Before = () => undefined): Promise<Journey> {
  const node = await startNode(t, { chainId: 1001, head: 4242 })
  node.on('eth_gasPrice', result('"0x3b9aca00"')).on('eth_call', error('{"code":3,"message":"reverted"}'))
  const port = await freePort()
  const gateway = await prepareGateway(t, {
    baseUrl: `http://127.0.0.1:${port}/{slug}`,
    networks: {
      alpha: { chainId: 1001, name: 'Alpha Chain' },
      sol: { family: 'solana', chainId: 'solana-test', name: 'Sol Chain' },
    },
    routes: [
      {
        id: 'alpha-secret-name',
        network: 'alpha',
        http: node.url,
        capabilities: ['archive'],
        ws: node.url.replace('http', 'ws'),
      },
      { id: 'sol-a', network: 'sol', http: node.url },
    ],
    gateway: { listen: `127.0.0.1:${port}` },
    plans: {
      small: {
        tiers: ['any'],
        rate: { perSecond: 100, burst: 100 },
        quota: { requests: 1000, every: '30d' },
      },
    },
  })
  const owner = await createOwner(gateway, 'sol', 'small')
  await before(gateway, owner)
  await gateway.start()
  await gateway.headKnown('alpha')
  const made = await new Access(gateway, 'sol', owner.key).managed('service_createEndpoint', [
    { chain: 'alpha', name: 'app' },
  ])
  const app = new Access(gateway, 'alpha', made.apiKey, made.endpointId, owner.accountId)
  const tab = await openTab(await startBrowser(t), { permissions: ['clipboard-read', 'clipboard-write'] })
  const { page } = tab
  await signIn(page, gateway.url, owner.token)
  const button: Journey['button'] = (name, within = page) =>
    within.getByRole('button', { name, exact: typeof name === 'string' })
  return {
    ...tab,
    gateway,
    node,
    owner,
    app,
    button,
    copy: async name => {
      await page.evaluate("navigator.clipboard.writeText('')")
      await button(name).click()
      return until(`${name} has copied`, async () => (await page.evaluate<string>(CLIPBOARD)) || false)
    },
    told: async (text, act) => {
      await Promise.all([page.getByText(text).waitFor(), act()])
    },
    refresh: async () => page.evaluate('document.dispatchEvent(new Event("visibilitychange"))'),
  }
}

const CLIPBOARD = 'navigator.clipboard.readText()'

/** Posts a body to a URL as any program does. */
export async function post(url: string, body: string): Promise<{ status: number; json: any }> {
  const reply = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return { status: reply.status, json: await reply.json() }
}
