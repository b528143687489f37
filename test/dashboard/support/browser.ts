import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import type { Teardown } from '../../support/teardown.ts'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The browser that CHROMIUM names, or the first one on the PATH. */
const found =
  process.env['CHROMIUM'] ??
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap(dir => NAMES.map(name => join(dir, name)))
    .find(file => existsSync(file))

/** What keeps a test from a browser, for its `skip`; false when nothing does. */
export const noBrowser: string | false =
  found === undefined &&
  'no Chromium was found: put chromium on the PATH (Debian: apt-get install chromium) or name it in CHROMIUM'

/** Starts a headless browser that ends with the test. */
export async function startBrowser(t: Teardown): Promise<Browser> {
  // Inside containers the tests run as root, where Chromium's own sandbox does not start.
  const browser = await chromium.launch({ executablePath: found ?? '', args: ['--no-sandbox'] })
  t.teardown(() => browser.close())
  return browser
}

/** A page in a profile of its own, and everything in it that should not have happened. */
export interface Tab {
  readonly page: Page
  /** Errors of the console, uncaught exceptions, breaches of the content policy. */
  readonly complaints: string[]
}

/** The browser's own line about a reply that the program understands: signed out, wrong secret, wait a moment. */
const EXPECTED = /^Failed to load resource: .* status of (401|429) /

/** Opens a page in a profile of its own. */
export async function openTab(browser: Browser, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('console', message => {
    const text = message.text()
    if (['error', 'warning'].includes(message.type()) && !EXPECTED.test(text)) complaints.push(text)
  })
  return { page, complaints }
}

/** Signs in and waits for the overview. */
export async function signIn(page: Page, url: string, secret: string): Promise<void> {
  await page.goto(`${url}/`)
  await page.getByLabel('Dashboard token or API key').fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
}
