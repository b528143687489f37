import t from 'tap'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { noBrowser } from './support/browser.ts'
import { startJourney } from './support/journey.ts'

const runFile = promisify(execFile)

t.test('an owner looks up what can be called, tries it, and sets an alert', { skip: noBrowser }, async t => {
  const { gateway, app, page, complaints, button, copy } = await startJourney(t)

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
    await page.getByText('it costs 3 request units').waitFor()
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

  await t.test('an alert is set, and found in the trail', async t => {
    await app.managed('service_rotateKey', [{ endpointId: app.endpointId }])
    await page.getByRole('link', { name: 'settings' }).click()
    const alerts = page.getByRole('region', { name: 'Alerts' })
    const save = async (url: string) => {
      await alerts.getByLabel('URL').fill(url)
      await button('Save', alerts).click()
    }
    await save('https://127.0.0.1/hook')
    t.match(await alerts.getByRole('alert').textContent(), /public address/)
    await save('https://hooks.example.com/services/T1')
    await alerts.getByText('https://hooks.example.com/services/…').waitFor()
    t.match(await alerts.getByLabel('Secret of the webhook', { exact: true }).textContent(), /^whsec_/)
    await button('Done', alerts).click()
    t.notMatch(await page.content(), 'whsec_')
    await page.reload()
    const trail = page.getByRole('region', { name: 'Changes, newest first' })
    await trail.getByText('Alerts changed').waitFor()
    // Endpoints have their names once the list of them is here.
    await trail.getByRole('row').filter({ hasText: 'Key rotated' }).filter({ hasText: 'app' }).waitFor()
    t.match(await trail.textContent(), /Alerts changed.*an owner, here.*Key rotated.*app/)
    await button('Turn off', alerts).click()
    await alerts.getByText('Now: off').waitFor()
  })

  t.strictSame(complaints, [])
})
