/** Pages on paper: white whatever the screen is, tables whole, and nothing that only a screen can do. */
import t from 'tap'
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { prepareGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { noBrowser, openTab, signIn, startBrowser } from './support/browser.ts'
import { writeCrowd } from './support/crowd.ts'

const runFile = promisify(execFile)

const noPdftotext =
  spawnSync('pdftotext', ['-v']).error !== undefined &&
  'pdftotext was not found: put it on the PATH (Debian: apt-get install poppler-utils)'

/** What is on paper and should not be, or is cut there. */
const WRONG = `[...document.querySelectorAll('body *')].flatMap(one => {
  const { overflowX, overflowY, position } = getComputedStyle(one)
  const cut = [overflowX, overflowY].some(flow => flow === 'auto' || flow === 'scroll')
  const wrong = one.matches('nav a, button, dialog, [role=tab], .skip, .crumbs') ? 'only of a screen'
    : cut && one.matches(':not(input, textarea)') && one.scrollHeight > one.clientHeight ? 'cut'
    : ['sticky', 'fixed'].includes(position) ? 'repeated' : ''
  return wrong !== '' && one.checkVisibility() ? [wrong + ': ' + one.outerHTML.slice(0, 80)] : []
})`

/** Of the paper and the text. */
const COLOURS = `[getComputedStyle(document.documentElement).backgroundColor, getComputedStyle(document.body).color]`

/** Which of the two colours of the plot's lines are in the drawing. */
const LINES = `(() => {
  const canvas = document.querySelector('canvas')
  // While it is drawn anew there is none.
  if (canvas === null) return { light: false, dark: false }
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true })
  copy.drawImage(canvas, 0, 0)
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height)
  const has = (r, g, b) => {
    for (let i = 0; i < data.length; i += 4)
      if (data[i] === r && data[i + 1] === g && data[i + 2] === b && data[i + 3] === 255) return true
    return false
  }
  return { light: has(0xe2, 0xe5, 0xec), dark: has(0x2b, 0x31, 0x40) }
})()`

t.test('pages are printed whole, on white, with their address and time', { skip: noBrowser }, async t => {
  const node = await startNode(t, { chainId: 1001 })
  const gateway = await prepareGateway(t, {
    networks: { alpha: { chainId: 1001, name: 'Alpha Chain' } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    gateway: { dashboardHost: '127.0.0.1' },
  })
  const crowd = await writeCrowd(gateway, { networks: ['alpha'], plan: 'paid', count: 60, days: 3 })
  await gateway.start()
  const { page, complaints } = await openTab(await startBrowser(t), {
    viewport: { width: 1280, height: 900 },
    colorScheme: 'dark',
  })
  await signIn(page, gateway.url, crowd.token)

  const pages: [path: string, ready: string][] = [
    ['overview', 'text=Why calls were refused'],
    ['endpoints', 'text=1–50 of 60'],
    [`endpoints/${crowd.endpoints[0]!.id}`, 'text=against the 24 hours before'],
    ['methods', 'text=1–50 of'],
    ['networks', 'text=Alpha Chain'],
    ['settings', 'text=Endpoint created'],
    ['usage?range=7d&by=hour&compare=before', 'text=1–20 of 60'],
  ]
  for (const [path, ready] of pages) {
    await page.goto(`${gateway.url}/#/${path}`)
    await page.locator(ready).first().waitFor()
    // What is open over a page is not of it.
    if (path === 'endpoints') await page.getByRole('button', { name: 'Create endpoint' }).click()
    await page.emulateMedia({ media: 'print' })
    t.strictSame(await page.evaluate(WRONG), [], path)
    const head = await page.locator('.print-only').textContent()
    t.match(head, /^As of \d+ \w{3} \d{4}, \d\d:\d\d UTC · /, path)
    t.equal(head!.split(' · ')[1], `${gateway.url}/#/${path}`)
    t.strictSame(await page.evaluate(COLOURS), ['rgb(255, 255, 255)', 'rgb(27, 32, 48)'], path)
    await page.emulateMedia({ media: null })
    t.notOk(await page.locator('.print-only').isVisible(), `${path}: not on the screen`)
    if (path === 'endpoints') await page.getByRole('button', { name: 'Cancel' }).click()
  }

  const drawn = (look: 'light' | 'dark') =>
    until(`the plot is drawn for a ${look} page`, async () => {
      const lines = await page.evaluate<{ light: boolean; dark: boolean }>(LINES)
      return lines[look] && lines.light !== lines.dark
    })
  await page.getByText('Every hour').click()
  const rows = page.getByRole('region', { name: 'Request units by endpoint, every hour' }).locator('tbody tr')
  await rows.first().waitFor()
  await drawn('dark')
  await page.emulateMedia({ media: 'print' })
  await drawn('light')
  await page.emulateMedia({ media: null })
  await drawn('dark')
  // A plot is drawn in the microtasks after its event.
  await page.evaluate(
    `addEventListener('beforeprint', () => void Promise.resolve().then(() => (globalThis.printed = ${LINES})))`,
  )
  const file = join(await tempDir(t), 'usage.pdf')
  await page.pdf({ path: file, format: 'A4' })
  t.strictSame(await page.evaluate('printed'), { light: true, dark: false }, 'the plot is drawn for paper')
  await drawn('dark')
  t.strictSame(complaints, [])

  await t.test('a table that is longer than a page has its head on each', { skip: noPdftotext }, async t => {
    const { stdout } = await runFile('pdftotext', ['-layout', file, '-'])
    const sheets = stdout.split('\f').slice(0, -1)
    t.ok(sheets.length > 1)
    t.match(sheets[0], page.url())
    // In the last hour of a day the seven days are whole ones, and hours are not named.
    t.match(sheets[0], /\d to .*\d, compared with .*\d to .*\d; all times UTC/)
    const hours = sheets.map(sheet => sheet.match(/^ *\d+ \w{3}, \d\d:00 (?!to)/gm)?.length ?? 0)
    t.equal(
      hours.reduce((sum, count) => sum + count, 0),
      await rows.count(),
      'every row',
    )
    for (const [i, count] of hours.entries()) if (count > 0) t.match(sheets[i], /^ *Hour \(UTC\) /m)
  })
})
