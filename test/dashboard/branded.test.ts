import t, { type Test } from 'tap'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { prepareGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'
import { violations } from './support/axe.ts'
import { noBrowser, openTab, signIn, startBrowser } from './support/browser.ts'
import { createOwner } from './support/owner.ts'

/** A square that would tell who opens it as a page. */
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><style>path{fill:#0a7d5c}</style><script>document.title = "ran"</script><path d="M0 0h32v32z"/></svg>'
/** Yellow is the hardest to read on white. */
const BRAND = `
dashboard:
  name: Acme & <Sons>
  logo: logo.svg
  accent: "#ffcc00"
  links: { support: "mailto:help@acme.example?subject=\\"RPC\\"", docs: https://docs.acme.example/, terms: https://acme.example/terms }
`
/** Pages that have between them all that the accent colours. */
const COLOURED: ReadonlySet<string> = new Set(['signing in', 'overview', 'endpoints', 'settings', 'a dialog'])
const OURS = /tollgate/i

const node = await startNode(t, { chainId: 1001 })
const gateway = await prepareGateway(t, {
  networks: { alpha: { chainId: 1001, name: 'Alpha Chain' } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  gateway: { dashboardHost: '127.0.0.1' },
})
const owner = await createOwner(gateway, 'alpha')
const file = join(gateway.dir, 'gateway.yaml')
const unbranded = readFileSync(file, 'utf8')
await gateway.start()
const browser = noBrowser === false ? await startBrowser(t) : null

const get = (path: string, headers: Record<string, string> = {}) =>
  gateway.send({ method: 'GET', path, headers: { 'content-type': undefined, ...headers } })
async function reload(): Promise<{ ok: boolean }> {
  const reply = await fetch(`${gateway.adminUrl}/reload`, { method: 'POST' })
  return (await reply.json()) as { ok: boolean }
}
function serve(text: string): Promise<{ ok: boolean }> {
  writeFileSync(file, text)
  return reload()
}

t.test('without the key all is as it was built', async t => {
  const page = await get('/')
  t.equal(page.text, readFileSync(new URL('../../dist/dashboard/index.html', import.meta.url), 'utf8'))
  t.match(page.text, '<title>Tollgate</title>')
  for (const path of ['/assets/logo', '/assets/accent.css']) t.equal((await get(path)).status, 404)
})

t.test('a reload gives page, logo and colours, under a policy that is as strict', async t => {
  const before = await get('/')
  writeFileSync(join(gateway.dir, 'logo.svg'), LOGO)
  t.match(await serve(unbranded + BRAND), { ok: true })
  const page = await get('/')
  t.equal(page.headers['content-security-policy'], before.headers['content-security-policy'])
  t.equal(page.headers['cache-control'], 'no-cache')
  t.not(page.headers.etag, before.headers.etag)
  t.match(page.text, '<title>Acme &amp; &lt;Sons&gt;</title>')
  t.notMatch(page.text, OURS)
  t.notMatch(page.text, /<style|style=|<script>|\son\w+=|<Sons>/, 'nothing inline')
  t.equal((await get('/', { 'if-none-match': page.headers.etag! })).status, 304)

  const logo = await get('/assets/logo')
  t.equal(logo.text, LOGO)
  t.match(logo.headers, {
    'content-type': 'image/svg+xml',
    'cache-control': 'no-cache',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  })
  const packed = await get('/assets/logo', { 'accept-encoding': 'gzip' })
  t.ok(gunzipSync(packed.bytes).equals(logo.bytes))
  const colours = await get('/assets/accent.css')
  t.equal(colours.headers['content-type'], 'text/css; charset=utf-8')
  t.match(colours.text, '--accent-fill:#ffcc00')
})

t.test('another content of the logo is served without an edit of the YAML', async t => {
  const png = Buffer.from('89504e470d0a1a0a0000000d494844520000000400000002', 'hex')
  writeFileSync(join(gateway.dir, 'logo.svg'), png)
  const logo = await until('it is seen', async () => {
    const reply = await get('/assets/logo')
    return reply.headers['content-type'] === 'image/png' && reply
  })
  const line = 'dashboard.logo.type image/svg+xml → image/png'
  await until('it is logged', () => Promise.resolve(gateway.printed.includes(line)))
  t.notMatch(gateway.printed, png.toString('base64').slice(0, 20))
  t.ok(logo.bytes.equals(png))
  t.match((await get('/')).text, '&quot;wide&quot;:true')
  writeFileSync(join(gateway.dir, 'logo.svg'), 'no picture')
  t.match(await reload(), { ok: false })
  const last = await get('/assets/logo')
  t.strictSame([last.status, last.bytes.toString('hex')], [200, png.toString('hex')], 'the last good one')
  writeFileSync(join(gateway.dir, 'logo.svg'), LOGO)
  t.match(await reload(), { ok: true })
})

t.test('every page is the provider’s, to be read in light and dark', { skip: noBrowser }, async t => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, complaints } = await openTab(browser!, { colorScheme })
    const ours = async (what: string) => {
      t.notMatch(await page.content(), OURS, `${colorScheme}: ${what}`)
      t.match(await page.title(), /Acme & <Sons>$/)
      t.ok(await page.evaluate('document.querySelector("img.logo").naturalWidth > 0'), 'the logo is drawn')
      const links = page.getByRole('contentinfo').or(page.locator('main footer'))
      t.equal(await links.getByRole('link').count(), 3)
      if (!COLOURED.has(what)) return
      t.strictSame(await violations(page), [], `${colorScheme}: ${what}`)
    }
    await page.goto(`${gateway.url}/`)
    await page.getByText('Acme & <Sons> can make a new token').waitFor()
    t.equal(
      await page.getByRole('link', { name: 'Support' }).getAttribute('href'),
      'mailto:help@acme.example?subject="RPC"',
    )
    await ours('signing in')
    await signIn(page, gateway.url, owner.token)
    const paths = ['overview', 'endpoints', 'usage', 'methods', 'networks', 'settings', 'nope']
    for (const path of [...paths, `endpoints/${owner.endpointId}`]) {
      await page.goto(`${gateway.url}/#/${path}`)
      await page.waitForLoadState('networkidle')
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
      await ours(path)
    }
    await page.getByRole('button', { name: 'Name and labels' }).click()
    await page.getByRole('dialog').waitFor()
    await ours('a dialog')
    t.strictSame(complaints, [])
    await page.context().close()
  }
  await opensNothing(t, (await openTab(browser!)).page)
})

async function opensNothing(t: Test, page: Page): Promise<void> {
  await page.goto(`${gateway.url}/assets/logo`)
  t.equal(await page.title(), '', 'a script in the logo does not run where it is opened by itself')
  t.equal(await page.evaluate('origin'), 'null', 'nor would it have an origin')
}

t.test('a name alone has its first letter for a logo, and an accent alone leaves the name', async t => {
  await serve(`${unbranded}\ndashboard: { name: "&ko", accent: "#000" }\n`)
  const logo = await get('/assets/logo')
  t.match(logo.text, 'fill="#000000"')
  t.match(logo.text, '>&amp;</text>')
  await serve(`${unbranded}\ndashboard: { accent: "#0a7d5c" }\n`)
  const page = await get('/')
  t.match(page.text, '<title>Tollgate</title>')
  t.match(page.text, '/assets/accent.css')
  t.equal((await get('/assets/logo')).status, 404)
})

t.test('a gateway that has gone is called by its name', { skip: noBrowser }, async t => {
  await serve(`${unbranded}\ndashboard: { name: Acme }\n`)
  const { page } = await openTab(browser!)
  await page.goto(`${gateway.url}/`)
  await page.getByLabel('Dashboard token or API key').fill('tg_x')
  await gateway.kill9()
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Acme cannot be reached. Are you online?').waitFor()
  t.notMatch(await page.content(), OURS)
})
