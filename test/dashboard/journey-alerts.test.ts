import t from 'tap'
import { noBrowser } from './support/browser.ts'
import { startJourney } from './support/journey.ts'

t.test('an owner sets an alert, and finds it in the trail', { skip: noBrowser }, async t => {
  const { app, page, complaints, button } = await startJourney(t)
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
  t.strictSame(complaints, [])
})
