/** `npm run screenshots [-- DIR]`: the pictures in docs/screenshots, of a real gateway with usage that was written for the occasion, at 6 and at 100 endpoints. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { withAccounts } from '../support/accounts.ts'
import { prepareGateway } from '../support/gateway.ts'
import { result } from '../support/node-replies.ts'
import { root } from '../support/paths.ts'
import { Random } from '../support/random.ts'
import { startNode } from '../support/scripted-node.ts'
import { openTab, signIn, startBrowser } from './support/browser.ts'
import { writeCrowd } from './support/crowd.ts'
import { smallPng } from './support/small-png.ts'
import { writePastUsage } from './support/past-usage.ts'

const handlers: (() => unknown)[] = []
const t = { teardown: (handler: () => unknown) => handlers.push(handler) }

const chains = [
  { slug: 'ethereum', name: 'Ethereum Mainnet', chainId: 1, head: 21_843_112, public: true },
  { slug: 'bsc', name: 'BNB Smart Chain', chainId: 56, head: 46_201_833 },
  { slug: 'arbitrum-one', name: 'Arbitrum One', chainId: 42161, head: 305_118_240 },
  { slug: 'base', name: 'Base', chainId: 8453, head: 26_115_907 },
]
const routes = []
const networks: Record<string, { name: string; chainId: number | string; family?: 'evm' | 'solana' }> = {}
for (const { slug, head, ...network } of chains) {
  const node = await startNode(t, { chainId: network.chainId, head })
  node.on('eth_gasPrice', result('"0x2b5e3af1"'))
  networks[slug] = network
  const all = ['archive', 'trace', 'debug', 'txpool']
  const ws = node.url.replace('http', 'ws')
  routes.push({ id: `${slug}-a`, network: slug, http: node.url, ws, capabilities: slug === 'bsc' ? [] : all })
  routes.push({ id: `${slug}-b`, network: slug, http: node.url, ...(slug === 'base' ? {} : { ws }) })
}
const sol = await startNode(t, { head: 318_402_771 })
networks['solana'] = { name: 'Solana Mainnet', family: 'solana', chainId: 'solana-mainnet' }
routes.push({ id: 'solana-a', network: 'solana', http: sol.url, ws: sol.url.replace('http', 'ws') })

const gateway = await prepareGateway(t, {
  baseUrl: 'https://{subdomain}.example.org',
  networks,
  routes,
  plans: {
    team: {
      tiers: ['any', 'paid'],
      rate: { perSecond: 100, burst: 200 },
      quota: { requests: 3_000_000, every: '30d' },
      maxBatch: 100,
    },
    company: {
      tiers: ['any', 'paid'],
      rate: { perSecond: 2_000, burst: 4_000 },
      quota: { requests: 500_000_000, every: '30d' },
      maxBatch: 100,
    },
  },
  gateway: { dashboardHost: '127.0.0.1' },
})

const { token, ids } = await withAccounts(gateway, async store => {
  const { account, dashboardToken } = await store.accounts.create({ name: 'Acme Wallet', plan: 'team' })
  const wanted = [
    ['ethereum', 'production'],
    ['ethereum', 'staging'],
    ['arbitrum-one', 'bridge watcher'],
    ['base', 'mobile app'],
    ['solana', 'price bot'],
    ['bsc', 'old indexer'],
  ] as const
  const ids = []
  for (const [network, name] of wanted) {
    const made = await store.endpoints.create({ accountId: account.id, network, name })
    if (typeof made === 'string') throw new Error(made)
    ids.push({ endpoint: made.id, network, account: account.id, window: account.createdAt })
  }
  await store.endpoints.change(account.id, ids[5]!.endpoint, { status: 'inactive' })
  const hour = Math.floor(Date.now() / 3_600_000) * 3600
  const used = ids.slice(0, 5).map(({ endpoint }) => endpoint)
  await store.recordUse(used.slice(1, 2), hour - 3 * 86_400)
  await store.recordUse(used.toSpliced(1, 1), hour)
  for (const i of [0, 2])
    await store.endpoints.change(account.id, ids[i]!.endpoint, { labels: { team: 'wallet' } })
  await store.endpoints.change(account.id, ids[3]!.endpoint, { allowedOrigins: ['https://app.example.org'] })
  return { token: dashboardToken, ids }
})

const evm: [string, number, number][] = [
  ['eth_call', 620, 1],
  ['eth_getLogs', 210, 1],
  ['eth_blockNumber', 340, 1],
  ['eth_getBlockReceipts', 24, 3],
  ['eth_getTransactionReceipt', 130, 1],
  ['trace_transaction', 6, 5],
  ['eth_getBalance', 95, 1],
  ['eth_gasPrice', 60, 1],
]
const solana: [string, number, number][] = [
  ['getSlot', 300, 1],
  ['getLatestBlockhash', 180, 1],
]
const random = new Random(7)
const chance = () => random.below(1000) / 1000
const share = [1, 0.18, 0.42, 0.55, 0.6, 0]
writePastUsage(
  gateway,
  ids.flatMap(({ endpoint, network, account }, i) =>
    (network === 'solana' ? solana : evm).flatMap(([method, calls, cost]) =>
      Array.from({ length: 24 * 29 }, (_, hoursAgo) => {
        const wave = 1 + 0.55 * Math.sin(((new Date().getUTCHours() - hoursAgo - 9) / 24) * 2 * Math.PI)
        const made = Math.round(calls * share[i]! * wave * (0.8 + 0.4 * chance()) * 0.8)
        const errors = Math.round(made * 0.012 * chance())
        const refused =
          method === 'eth_getLogs' && hoursAgo % 5 === 2 ? { rate_limited: 9, invalid_params: 2 } : {}
        return {
          endpoint,
          network,
          account,
          method,
          hoursAgo,
          calls: made,
          cost,
          errors,
          refused,
          ms: 6 + 9 * cost,
        }
      }).filter(({ calls }) => calls > 0),
    ),
  ),
  ids[0]!.window,
)

const crowd = await writeCrowd(gateway, {
  networks: chains.map(({ slug }) => slug),
  plan: 'company',
  count: 100,
  days: 29,
})
await gateway.start()
for (const slug of Object.keys(networks)) await gateway.headKnown(slug)
const browser = await startBrowser(t)
const dir = process.argv[2] ?? join(root, 'docs/screenshots')
await mkdir(dir, { recursive: true })

/** One page as it is photographed. */
interface Shot {
  readonly name: string
  readonly path: string
  readonly before?: (page: Page) => Promise<void>
  /** Only what a screen shows of it. */
  readonly isScreen?: boolean
}

const drawn = async (page: Page): Promise<void> => page.locator('canvas').waitFor()

/** Of the account with six endpoints. */
const shots: readonly Shot[] = [
  { name: 'overview', path: '#/overview' },
  { name: 'endpoints', path: '#/endpoints' },
  {
    name: 'create',
    path: '#/endpoints',
    isScreen: true,
    before: async page => {
      await page.getByRole('button', { name: 'Create endpoint' }).click()
      await page.getByLabel('Base').check()
    },
  },
  {
    name: 'endpoint',
    path: `#/endpoints/${ids[0]!.endpoint}`,
    before: async page => {
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText('HTTP 200').waitFor()
    },
  },
  { name: 'usage', path: '#/usage?range=7d&by=day&split=method&compare=before', before: drawn },
  { name: 'networks', path: '#/networks' },
  { name: 'methods', path: '#/methods', isScreen: true },
  { name: 'settings', path: '#/settings' },
]

/** Of the one with a hundred: those that are others then. */
const crowded: readonly Shot[] = [
  { name: 'overview-100', path: '#/overview' },
  { name: 'endpoints-100', path: '#/endpoints?sort=-today', isScreen: true },
  { name: 'usage-100', path: '#/usage?range=7d&by=day&compare=before', before: drawn, isScreen: true },
  { name: 'refusals-100', path: '#/usage?range=7d&by=hour&split=reason', before: drawn },
]

const desktop = { width: 1280, height: 900 }
const looks = [
  { look: 'light', colorScheme: 'light', viewport: desktop },
  { look: 'dark', colorScheme: 'dark', viewport: desktop },
  { look: 'phone', colorScheme: 'light', viewport: { width: 390, height: 800 } },
] as const

async function save(page: Page, name: string, isScreen: boolean): Promise<void> {
  await writeFile(join(dir, `${name}.png`), smallPng(await page.screenshot({ fullPage: !isScreen })))
}

for (const { look, ...options } of looks)
  for (const [secret, all] of [
    [token, shots],
    [crowd.token, crowded],
  ] as const) {
    const { page, complaints } = await openTab(browser, options)
    await page.goto(`${gateway.url}/`)
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await save(page, `sign-in-${look}`, true)
    await signIn(page, gateway.url, secret)
    for (const { name, path, before, isScreen = false } of all) {
      await page.goto(`${gateway.url}/${path}`)
      await page.reload()
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForLoadState('networkidle')
      await before?.(page)
      await page.waitForTimeout(200)
      await page.evaluate('scrollTo(0, 0)')
      await save(page, `${name}-${look}`, isScreen)
    }
    for (const complaint of complaints) console.error(`${look}: ${complaint}`)
    await page.context().close()
  }

for (const handler of handlers.toReversed()) await handler()
