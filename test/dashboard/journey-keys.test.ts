import t from 'tap'
import { EventEmitter, once } from 'node:events'
import { message } from '../support/access.ts'
import { withAccounts } from '../support/accounts.ts'
import { until } from '../support/until.ts'
import { noBrowser, signIn } from './support/browser.ts'
import { post, startJourney } from './support/journey.ts'

const CALL = message('eth_gasPrice')

t.test('an owner restricts a key and rotates it', { skip: noBrowser }, async t => {
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
    t.match(await card.getByRole('alert').textContent(), /^Allowed origins are web pages .*; line 1 is none$/)
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

    await card.getByLabel('Request units a day').fill('1')
    await save()
    await answers(402)
    await card.getByLabel('Request units a day').fill('')
    await save()
    await answers(200)
    await card.getByLabel('Request units a second').fill('1')
    await save()
    await answers(429)
    await page.getByRole('link', { name: 'overview' }).click()
    const reasons = page.getByRole('region', { name: 'Refused calls by reason' })
    await until('the refusals are shown', async () => {
      await refresh()
      return (await reasons.getByText('Too many request units a second').count()) === 1
    })
    for (const reason of ['rate_limited', 'origin_denied', 'quota_exhausted'])
      t.match(await reasons.textContent(), reason)
    await page.goBack()
    await card.getByLabel('Request units a second').fill('')
    await save()
    await answers(200)
  })

  await t.test('bug: saving undid what had been changed in another tab meanwhile', async t => {
    const elsewhere = (change: object) =>
      app.managed('service_updateEndpoint', [{ endpointId: app.endpointId, ...change }])
    const card = page.getByRole('region', { name: 'What the key may be used for' })
    await card.getByLabel('Request units a second').fill('90')
    await button('Name and labels').click()
    await page.getByRole('textbox', { name: 'Name' }).fill('renamed')
    await elsewhere({ allowedIps: ['127.0.0.0/8'], labels: { team: 'wallet' } })
    await refresh()
    await page.getByText('team=wallet').waitFor()
    await button('Save', page.getByRole('dialog')).click()
    await page.getByRole('heading', { name: 'renamed' }).waitFor()
    t.equal(await card.getByLabel('Allowed addresses').inputValue(), '127.0.0.0/8', 'it is seen here')
    t.equal(await card.getByLabel('Request units a second').inputValue(), '90', 'and what was typed stays')
    await button('Save', card).click()
    await until('it is saved', async () => {
      const now = await app.managed('service_getEndpoint', [{ endpointId: app.endpointId }])
      if (now.perSecond !== 90) return false
      t.match(now, { name: 'renamed', allowedIps: ['127.0.0.0/8'], labels: { team: 'wallet' } })
      return true
    })

    // The gateway takes its time.
    const clicked = new EventEmitter()
    const isClicked = once(clicked, 'typed')
    await page.route('**/api/rpc', async route => {
      if (route.request().postData()?.includes('service_updateEndpoint')) await isClicked
      await route.continue()
    })
    await card.getByLabel('Request units a second').fill('80')
    await button('Save', card).click()
    await card.getByLabel('Request units a day').fill('5000')
    t.ok(await button('Save', card).isDisabled(), 'it is saved once')
    clicked.emit('typed')
    await card.locator('button:enabled').waitFor()
    t.equal(
      await card.getByLabel('Request units a day').inputValue(),
      '5000',
      'what is typed meanwhile stays',
    )
    const saved = await app.managed('service_getEndpoint', [{ endpointId: app.endpointId }])
    t.match(saved, { perSecond: 80, dailyLimit: null })
    await page.unroute('**/api/rpc')
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

  await t.test('a key with a limit signs in, and its owner sees why it lifts none', async t => {
    const { endpointId } = app
    const limited = await withAccounts(gateway, async ({ endpoints }) => {
      await endpoints.change(null, endpointId, { perSecond: 90 })
      return (await endpoints.find(null, endpointId))!.apiKey
    })
    await page.context().clearCookies()
    await page.goto('about:blank')
    await signIn(page, gateway.url, limited)
    await page.goto(`${gateway.url}/#/endpoints/${endpointId}`)
    const card = page.getByRole('region', { name: 'What the key may be used for' })
    await card.getByLabel('Request units a second').fill('')
    await button('Save', card).click()
    t.match(await card.getByRole('alert').textContent(), /^This key has limits of its own/)
    const [complaint, ...more] = complaints.splice(0)
    t.match(complaint, /^Failed to load resource: .* status of 403 /)
    t.strictSame(more, [])
    await page.reload()
    t.equal(await card.getByLabel('Request units a second').inputValue(), '90', 'and the session goes on')
  })

  t.strictSame(complaints, [])
})
