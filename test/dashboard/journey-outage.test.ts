import t from 'tap'
import { noBrowser } from './support/browser.ts'
import { startJourney } from './support/journey.ts'
import { createOwner } from './support/owner.ts'

t.test(
  'an owner meets another account, an ended session and a gateway that has gone',
  { skip: noBrowser },
  async t => {
    const { gateway, owner, page, button, refresh, complaints } = await startJourney(t)
    const other = await createOwner(gateway, 'alpha', 'small')
    /** What another tab of the same browser asks of the session that they share. */
    const elsewhere = (method: string, body: object) =>
      page.evaluate<number>(
        `fetch('/api/session', { method: '${method}', headers: { 'content-type': 'application/json' }, body: '${JSON.stringify(body)}' }).then(({ status }) => status)`,
      )

    await t.test('bug: a tab mixed two accounts after a second tab had signed in to another one', async t => {
      await page.getByRole('link', { name: 'endpoints', exact: true }).click()
      await page.getByRole('link', { name: 'app' }).waitFor()
      t.equal(await elsewhere('POST', { secret: other.token }), 200)
      await Promise.all([page.waitForEvent('load'), refresh()])
      await page.getByRole('link', { name: 'first' }).waitFor()
      t.equal(await page.locator('tbody tr').count(), 1, 'the page begins again, with the other account')
    })

    await t.test(
      'a session that ends in the middle says so, and the page is there again after it',
      async t => {
        await button('Create endpoint').click()
        await page.getByLabel('Sol Chain').check()
        t.equal(await elsewhere('DELETE', {}), 200)
        await button('Create').click()
        await page.getByText('Your session has ended. Please sign in again.').waitFor()
        t.equal(await page.getByRole('dialog').count(), 0)
        await page.getByLabel('Dashboard token or API key').fill(owner.token)
        await button('Sign in').click()
        await page.getByRole('link', { name: 'app' }).waitFor()
        t.match(page.url(), /#\/endpoints$/)
      },
    )

    t.strictSame(complaints, [])

    await t.test('a gateway that goes away is noticed, and what was known stays', async t => {
      await gateway.kill9()
      await page.getByRole('link', { name: 'networks' }).click()
      await page.getByRole('alert').filter({ hasText: 'cannot be reached' }).first().waitFor()
      await page.getByRole('link', { name: 'endpoints', exact: true }).click()
      await page.getByRole('link', { name: 'first' }).waitFor()
      await page.getByRole('link', { name: 'usage', exact: true }).click()
      await page.getByText('Could not load your usage.').waitFor()
      t.ok(await button('Try again').first().isVisible())
    })
  },
)
