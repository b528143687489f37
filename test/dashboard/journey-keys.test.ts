import t from 'tap'
import { message } from '../support/access.ts'
import { until } from '../support/until.ts'
import { noBrowser } from './support/browser.ts'
import { post, startJourney } from './support/journey.ts'

const CALL = message('eth_gasPrice')

t.test('an owner restricts a key, rotates it and asks for alerts', { skip: noBrowser }, async t => {
  const { gateway, owner, app, page, complaints, button, copy, refresh } = await startJourney(t)
  await page.goto(`${gateway.url}/#/endpoints/${app.endpointId}`)

  await t.test('what a key may be used for is set on the page of its endpoint', async t => {
    const { url } = app
    const card = page.getByRole('region', { name: 'What the key may be used for' })
    const save = () => button('Save', card).click()
    /** Waits until a call is answered with this status. */
    const answers = (status: number) =>
      until(`a call is answered with ${status}`, async () => (await post(url, CALL)).status === status)
    await card.getByLabel('Allowed origins').fill('https://app.example.org/path')
    t.notOk(await card.getByRole('switch').isChecked(), 'a key of a web page is not to manage')
    await save()
    t.match(await card.getByRole('alert').textContent(), /allowedOrigins must be/)
    await card.getByLabel('Allowed origins').fill('https://app.example.org')
    await save()
    await page.getByText('The key works only from https://app.example.org').waitFor()
    t.equal(await button('Send').count(), 0, 'what would be refused cannot be tried')
    t.equal((await post(url, CALL)).json.error.data.reason, 'origin_denied')
    await card.getByLabel('Allowed origins').fill('')
    await card.getByRole('switch').check()
    await save()
    await button('Send').waitFor()
    t.equal((await post(url, CALL)).status, 200)
    for (const secret of [app.key, owner.key, owner.token]) t.notMatch(await page.content(), secret)

    await card.getByLabel('Requests a day').fill('1')
    await save()
    await answers(402)
    await card.getByLabel('Requests a day').fill('')
    await save()
    await answers(200)
    await card.getByLabel('Requests a second').fill('1')
    await save()
    await answers(429)
    await page.getByRole('link', { name: 'overview' }).click()
    const reasons = page.getByRole('region', { name: 'Refused calls by reason' })
    await until('the refusals are shown', async () => {
      await refresh()
      return (await reasons.getByText('Too many requests a second').count()) === 1
    })
    for (const reason of ['rate_limited', 'origin_denied', 'quota_exhausted'])
      t.match(await reasons.textContent(), reason)
    await page.goBack()
    await card.getByLabel('Requests a second').fill('')
    await save()
    await answers(200)
  })

  await t.test('a key is rotated, and the old one goes on for a while', async t => {
    const rotate = async (overlap: string | { label: string }) => {
      await button('Rotate key').click()
      await page.getByLabel('The old key works for').selectOption(overlap)
      await button('Rotate', page.getByRole('dialog')).click()
    }
    await rotate({ label: '1 day' })
    await page.getByText(/The old one works until .* \(UTC\)/).waitFor()
    t.equal((await post(app.url, CALL)).status, 200, 'the old one')
    const second = await copy('Copy HTTPS URL')
    t.not(second, app.url)
    t.equal((await post(second, CALL)).status, 200, 'the new one')
    await rotate('0s')
    await page.getByText('the old one is refused').waitFor()
    await until('it is', async () => (await post(second, CALL)).status === 401)
    const third = await copy('Copy HTTPS URL')
    t.not(third, second)
    t.equal((await post(third, CALL)).status, 200)
  })

  await t.test('an alert is set, and is in the trail', async t => {
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
    const rotated = trail.getByRole('row').filter({ hasText: 'Key rotated' }).filter({ hasText: 'app' })
    await rotated.first().waitFor()
    t.equal(await rotated.count(), 2)
    t.match(await trail.textContent(), /Alerts changed.*an owner, here.*Key rotated.*app/)
    await button('Turn off', alerts).click()
    await alerts.getByText('Now: off').waitFor()
  })

  t.strictSame(complaints, [])
})
