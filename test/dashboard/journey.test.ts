import t from 'tap'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { freePort } from '../support/free-port.ts'
import { startGateway } from '../support/gateway.ts'
import { error, result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { message } from '../support/access.ts'
import { until } from '../support/until.ts'
import { noBrowser, openTab, signIn, startBrowser } from './support/browser.ts'
import { createOwner } from './support/owner.ts'

const runFile = promisify(execFile)

t.test('an owner signs in, makes an endpoint, uses it and deletes it', { skip: noBrowser }, async t => {
  const node = await startNode(t, { chainId: 1001, head: 4242 })
  node.on('eth_gasPrice', result('"0x3b9aca00"')).on('eth_call', error('{"code":3,"message":"reverted"}'))
  const port = await freePort()
  const gateway = await startGateway(t, {
    baseUrl: `http://127.0.0.1:${port}/{slug}`,
    networks: {
      alpha: { chainId: 1001, name: 'Alpha Chain' },
      sol: { family: 'solana', chainId: 'solana-test', name: 'Sol Chain' },
    },
    routes: [
      {
        ...{ id: 'alpha-secret-name', network: 'alpha', http: node.url, capabilities: ['archive'] },
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
  await gateway.headKnown('alpha')
  const owner = await createOwner(gateway, 'sol', 'small')
  const browser = await startBrowser(t)
  const { page, complaints } = await openTab(browser, { permissions: ['clipboard-read', 'clipboard-write'] })
  const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()')
  const post = async (url: string, body: string) => {
    const reply = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return { status: reply.status, json: (await reply.json()) as any }
  }
  const button = (name: string | RegExp) =>
    page.getByRole('button', { name, exact: typeof name === 'string' })
  /** Everything that the page holds, also what is not shown. */
  const held = async (of: Page = page) => of.content()

  let url = ''
  let key = ''

  await t.test('a wrong token is told, the right one opens the overview', async t => {
    await page.goto(`${gateway.url}/`)
    await page.getByLabel('Dashboard token or API key').fill('tgd_wrong')
    await button('Sign in').click()
    t.match(await page.getByRole('alert').textContent(), /not a dashboard token or an API key/)
    await signIn(page, gateway.url, owner.token)
    t.match(
      await page.getByRole('region', { name: 'Plan' }).textContent(),
      /small.*0 of 1,000 requests.*0% used/,
    )
    await page.getByText('No calls yet').first().waitFor()
    const storage = 'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])'
    t.equal(await page.evaluate(storage), '["",{},{}]', 'scripts see no session')
  })

  await t.test('an endpoint is created on the chosen network', async t => {
    await page.getByRole('link', { name: 'endpoints' }).click()
    await button('Create endpoint').click()
    t.ok(await button('Create').isDisabled(), 'not without a network')
    await page.getByLabel('Alpha Chain').check()
    await page.getByRole('textbox', { name: 'Name' }).fill('  my <b>app</b> & "more"  ')
    await button('Create').click()
    const heading = page.getByRole('heading', { level: 1 })
    await heading.filter({ hasText: 'my' }).waitFor()
    t.equal(await heading.textContent(), 'my <b>app</b> & "more"', 'a name with markup is text')
    t.equal(await page.locator('main b').count(), 0)
    t.equal(await page.title(), 'my <b>app</b> & "more" · Tollgate')
  })

  await t.test('its URL is copied without being shown, and answers', async t => {
    await button('Copy HTTPS URL').click()
    await page.getByText('HTTPS URL copied').waitFor()
    url = await clipboard()
    key = url.split('/').at(-1)!
    t.match(url, new RegExp(`^http://127.0.0.1:${port}/alpha/v1/rpc/tg_\\w{38}$`))
    t.notMatch(await held(), key, 'the key is nowhere in the page')
    await button('Copy WSS URL').click()
    await page.getByText('WSS URL copied').waitFor()
    t.equal(await clipboard(), url.replace('http', 'ws'))

    t.match(await post(url, message('eth_gasPrice')), { status: 200, json: { result: '0x3b9aca00' } })
    await button('Copy curl snippet').click()
    await page.getByText('curl snippet copied').waitFor()
    const { stdout } = await runFile('sh', ['-c', await clipboard()])
    t.match(JSON.parse(stdout), { result: '0x1092' }, 'the snippet works as it is')
  })

  await t.test('the key is shown when it is asked for, and hidden again', async t => {
    await button(/^Reveal the key/).click()
    await page.getByText(url, { exact: true }).waitFor()
    await page.getByRole('tab', { name: 'ethers' }).click()
    t.match(await page.getByRole('tabpanel').textContent(), `new JsonRpcProvider('${url}')`)
    await page.keyboard.press('ArrowRight')
    t.match(
      await page.getByRole('tabpanel').textContent(),
      `Web3.HTTPProvider('${url}')`,
      'arrows move the tabs',
    )
    await button(/^Hide the key/).click()
    await page.getByText(url, { exact: true }).waitFor({ state: 'detached' })
    t.notMatch(await held(), key)
  })

  await t.test('a call can be tried, and everything of it is shown', async t => {
    await page.getByLabel('Method').fill('eth_call')
    await page.getByLabel('Params').fill('[{"to":"0x1", "gas":12345678901234567890}]')
    await button('Send').click()
    await page.getByText('HTTP 200').waitFor()
    t.match(await page.locator('.tried').textContent(), /\d+ ms/)
    t.match(await page.locator('pre[aria-label=Request]').textContent(), /"gas":12345678901234567890/)
    t.match(await page.locator('pre[aria-label=Reply]').textContent(), /reverted/)
    t.match(node.calls.at(-1)?.params, /12345678901234567890/, 'the params went out as they were written')
    await page.getByLabel('Params').fill('[1')
    await button('Send').click()
    t.match(await page.getByRole('alert').textContent(), /no valid JSON/)
    t.notMatch(await held(), key)
  })

  await t.test('the figures move with the calls', async t => {
    await page.getByText('3 requests').waitFor()
    await page.getByRole('link', { name: 'overview' }).click()
    await page.getByText('3 of 1,000 requests').waitFor()
    const today = page.getByRole('region', { name: 'Today (UTC)' })
    await until('the ledger has the error', async () => {
      await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
      return today.getByText('33.3%').isVisible()
    })
    t.match(await today.textContent(), /Calls today3.*Requests today3.*Error share33\.3%/)
    t.match(await today.textContent(), /Refused today0/)
    t.match(await today.textContent(), /Time at the nodes[\d.]+ ms|Time at the nodes–/)

    t.equal((await post(url, message('eth_getBlockReceipts', ['latest']))).status, 200)
    await page.getByRole('link', { name: 'usage', exact: true }).click()
    await page.locator('canvas').waitFor()
    await page.getByLabel('Split').selectOption({ label: 'by method' })
    const methods = page.getByRole('region', { name: 'Usage by method' })
    await methods.getByText('eth_getBlockReceipts').waitFor()
    t.match(await methods.textContent(), /eth_getBlockReceipts310 0%0/)
    t.match(page.url(), /#\/usage\?split=method$/, 'what is shown is in the URL')
    await page.getByLabel('Endpoint', { exact: true }).selectOption({ label: 'first' })
    await page.getByText('No usage in this span').waitFor()
    await page.goBack()
    await methods.waitFor()
    const [file] = await Promise.all([page.waitForEvent('download'), button('Download CSV').click()])
    t.match(file.suggestedFilename(), /^usage-by-method-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/)
    const chunks: Buffer[] = []
    for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer)
    t.match(Buffer.concat(chunks).toString(), /Z,eth_getBlockReceipts,1,3,0,0,\d+,[\d.]*,[\d.]*\r\n/)
  })

  await t.test('what a key may be used for is set on the page of its endpoint', async t => {
    await page.getByRole('link', { name: 'endpoints', exact: true }).click()
    await page.getByRole('link', { name: 'my <b>app' }).click()
    const card = page.getByRole('region', { name: 'What the key may be used for' })
    const save = () => card.getByRole('button', { name: 'Save' }).click()
    await card.getByLabel('Allowed origins').fill('https://app.example.org/path')
    t.notOk(await card.getByRole('switch').isChecked(), 'a key of a web page is not to manage')
    await save()
    t.match(await card.getByRole('alert').textContent(), /allowedOrigins must be/)
    await card.getByLabel('Allowed origins').fill('https://app.example.org')
    await save()
    await page.getByText('The key works only from https://app.example.org').waitFor()
    t.equal(await button('Send').count(), 0, 'what would be refused cannot be tried')
    t.equal((await post(url, message('eth_gasPrice'))).json.error.data.reason, 'origin_denied')
    await card.getByLabel('Allowed origins').fill('')
    await card.getByRole('switch').check()
    await save()
    await button('Send').waitFor()
    t.equal((await post(url, message('eth_gasPrice'))).status, 200)
    for (const secret of [key, owner.key, owner.token]) t.notMatch(await held(), secret)

    await card.getByLabel('Requests a day').fill('1')
    await save()
    await until('the day is used up', async () => (await post(url, message('eth_gasPrice'))).status === 402)
    await card.getByLabel('Requests a day').fill('')
    await save()
    await until('the day is not limited', async () => {
      return (await post(url, message('eth_gasPrice'))).status === 200
    })
    await card.getByLabel('Requests a second').fill('1')
    await save()
    await until('the key is limited', async () => (await post(url, message('eth_gasPrice'))).status === 429)
    await page.getByRole('link', { name: 'overview' }).click()
    await until('the refusals are told', async () => {
      await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
      const reasons = page.getByRole('region', { name: 'Refused calls by reason' })
      return (await reasons.getByText('Too many requests a second').count()) === 1
    })
    const reasons = await page.getByRole('region', { name: 'Refused calls by reason' }).textContent()
    for (const reason of ['rate_limited', 'origin_denied', 'quota_exhausted']) t.match(reasons, reason)
    await page.goBack()
    await card.getByLabel('Requests a second').fill('')
    await save()
    await until('no longer', async () => (await post(url, message('eth_gasPrice'))).status === 200)
  })

  await t.test('a key is rotated, and the old one goes on for a while', async t => {
    await button('Rotate key').click()
    await page.getByLabel('The old key works for').selectOption({ label: '1 day' })
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    await page.getByText(/The old one works until .* \(UTC\)/).waitFor()
    t.equal((await post(url, message('eth_gasPrice'))).status, 200, 'the old one')
    await button('Copy HTTPS URL').click()
    await page.getByText('HTTPS URL copied').waitFor()
    const rotated = await clipboard()
    t.not(rotated, url)
    t.equal((await post(rotated, message('eth_gasPrice'))).status, 200, 'the new one')
    await button('Rotate key').click()
    await page.getByLabel('The old key works for').selectOption('0s')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    await page.getByText('the old one is refused').waitFor()
    await until('it is', async () => (await post(rotated, message('eth_gasPrice'))).status === 401)
    await button('Copy HTTPS URL').click()
    url = await until('another URL is copied', async () => {
      const copied = await clipboard()
      return copied === rotated ? false : copied
    })
    key = url.split('/').at(-1)!
  })

  await t.test('methods tell their prices, and lead to a call', async t => {
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
    await page.getByText('HTTP 200').waitFor()
    await button('Copy the call as curl').click()
    await page.getByText('the call as curl copied').waitFor()
    const { stdout } = await runFile('sh', ['-c', await clipboard()])
    t.equal(JSON.parse(stdout).error, undefined, 'the copied call works as it is')
  })

  await t.test('an alert is set in Settings, and the trail has it', async t => {
    await page.getByRole('link', { name: 'settings' }).click()
    const alerts = page.getByRole('region', { name: 'Alerts' })
    await alerts.getByLabel('URL').fill('https://127.0.0.1/hook')
    await alerts.getByRole('button', { name: 'Save' }).click()
    t.match(await alerts.getByRole('alert').textContent(), /public address/)
    await alerts.getByLabel('URL').fill('https://hooks.example.com/services/T1')
    await alerts.getByRole('button', { name: 'Save' }).click()
    await alerts.getByText('https://hooks.example.com/services/…').waitFor()
    t.match(await alerts.getByLabel('Secret of the webhook', { exact: true }).textContent(), /^whsec_/)
    await alerts.getByRole('button', { name: 'Done' }).click()
    t.notMatch(await held(), 'whsec_')
    await page.reload()
    const trail = page.getByRole('region', { name: 'Changes, newest first' })
    await trail.getByText('Alerts changed').waitFor()
    // Endpoints have their names once the list of them is here.
    const rotated = trail.getByRole('row').filter({ hasText: 'Key rotated' })
    await rotated.filter({ hasText: 'my <b>app</b>' }).first().waitFor()
    t.match(await trail.textContent(), /Key rotated.*my <b>app<\/b> & "more".*an owner, here/)
  })

  await t.test('an address that names no page says so', async () => {
    await page.goto(`${gateway.url}/#/billing`)
    await page.getByText('There is no page at this address').waitFor()
  })

  await t.test('networks tell their live state and no route', async t => {
    await page.getByRole('link', { name: 'networks' }).click()
    const alpha = page.getByRole('region', { name: 'Alpha Chain' })
    await alpha.getByText('4,242').waitFor()
    t.match(await alpha.textContent(), /archive 1 route.*trace not offered.*WSS 1 route/)
    t.notMatch(await held(), /secret-name|operator-secret/)
  })

  await t.test('deactivated, renamed and deleted: the key is dead', async t => {
    await page.getByRole('link', { name: 'endpoints' }).click()
    await page.getByLabel('Search endpoints').fill('nothing like it')
    await page.getByRole('link', { name: 'Show all 2 endpoints' }).click()
    await page.getByLabel('Search endpoints').fill('alpha')
    t.equal(await page.locator('tbody tr').count(), 1)
    await page.locator('tbody a').click()
    await button('Deactivate').click()
    await page.getByText('The endpoint is inactive now').waitFor()
    t.equal((await post(url, message('eth_gasPrice'))).json.error.data.reason, 'endpoint_inactive')
    await button('Activate').click()
    await page.getByText('The endpoint is active now').waitFor()
    await button('Rename').click()
    await page.getByRole('textbox', { name: 'Name' }).fill('short')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'short' }).waitFor()
    t.equal(await page.title(), 'short · Tollgate')

    await button('Delete').click()
    const dialog = page.getByRole('dialog')
    const confirm = dialog.getByRole('button', { name: 'Delete' })
    await page.getByLabel('to confirm').fill('shor')
    t.ok(await confirm.isDisabled(), 'not before the name is typed')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    t.equal((await post(url, message('eth_gasPrice'))).status, 200)
    await button('Delete').click()
    await page.getByLabel('to confirm').fill('short')
    await confirm.click()
    await page.getByRole('heading', { name: 'Endpoints', level: 1 }).waitFor()
    t.equal((await post(url, message('eth_gasPrice'))).status, 401, 'the key is dead')
  })

  await t.test('signing out leaves nothing behind', async t => {
    await button('Sign out').click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    t.notMatch(await held(), /Acme|acc_|first/)
    await page.goBack()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
  })

  t.strictSame(complaints, [], 'the console has nothing to complain about, the content policy neither')
})

t.test('a gateway that goes away is told, and what was known stays', { skip: noBrowser }, async t => {
  const node = await startNode(t, { chainId: 1001 })
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    gateway: { dashboardHost: '127.0.0.1' },
  })
  const owner = await createOwner(gateway, 'alpha')
  const browser = await startBrowser(t)
  const { page } = await openTab(browser)
  await signIn(page, gateway.url, owner.token)
  await page.getByRole('link', { name: 'endpoints' }).click()
  await page.getByRole('link', { name: 'first' }).waitFor()
  await gateway.kill9()
  await page.getByRole('link', { name: 'networks' }).click()
  t.match(await page.getByRole('alert').first().textContent(), /cannot be reached/)
  await page.getByRole('link', { name: 'endpoints' }).click()
  await page.getByRole('link', { name: 'first' }).waitFor()
  await page.getByRole('link', { name: 'usage', exact: true }).click()
  await page.getByText('Could not load your usage.').waitFor()
  t.ok(await page.getByRole('button', { name: 'Try again' }).first().isVisible())
})
