import t from 'tap'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { noBrowser } from './support/browser.ts'
import { startJourney } from './support/journey.ts'

const runFile = promisify(execFile)

t.test('an owner looks up what can be called, and tries it', { skip: noBrowser }, async t => {
  const { gateway, page, complaints, button, copy } = await startJourney(t)

  await t.test('methods have their prices, and lead to a call', async t => {
    await page.getByRole('link', { name: 'methods', exact: true }).click()
    await page.getByLabel('Search methods').fill('eth_getBlockReceipts')
    const row = page.getByRole('row', { name: /eth_getBlockReceipts/ })
    t.match(await row.textContent(), /eth_getBlockReceipts3any–yesTry/)
    await page.getByLabel('Search methods').fill('debug_traceCall')
    t.match(
      await page.getByRole('row', { name: /debug_traceCall/ }).textContent(),
      /not in your plan \(tier paid\)/,
    )
    await page.getByLabel('Search methods').fill('eth_getBlockReceipts')
    await page.getByRole('link', { name: 'Try eth_getBlockReceipts' }).click()
    await page.getByText('it costs 3 requests').waitFor()
    t.equal(await page.getByLabel('Params').inputValue(), '["latest"]')
    await button('Send').click()
    // Whatever the status is: a call that fails says why, here too.
    const outcome = await page.locator('.tried').textContent()
    t.match(outcome, /^HTTP 200\d+ ms/)
    const { stdout } = await runFile('sh', ['-c', await copy('Copy the call as curl')])
    t.equal(JSON.parse(stdout).error, undefined, 'the copied call works as it is')
  })

  await t.test('networks show their live state and no route', async t => {
    await page.getByRole('link', { name: 'networks' }).click()
    const alpha = page.getByRole('region', { name: 'Alpha Chain' })
    await alpha.getByText('4,242').waitFor()
    t.match(await alpha.textContent(), /archive 1 route.*trace not offered.*WSS 1 route/)
    t.notMatch(await page.content(), /secret-name|operator-secret/)
  })

  await t.test('an address that names no page says so', async () => {
    await page.goto(`${gateway.url}/#/billing`)
    await page.getByText('There is no page at this address').waitFor()
  })

  t.strictSame(complaints, [])
})
