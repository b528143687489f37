import t from 'tap'
import { noBrowser } from './support/browser.ts'
import { startJourney } from './support/journey.ts'

t.test('a gateway that goes away is noticed, and what was known stays', { skip: noBrowser }, async t => {
  const { gateway, page, button } = await startJourney(t)
  await page.getByRole('link', { name: 'endpoints', exact: true }).click()
  await page.getByRole('link', { name: 'first' }).waitFor()
  await gateway.kill9()
  await page.getByRole('link', { name: 'networks' }).click()
  await page.getByRole('alert').filter({ hasText: 'cannot be reached' }).first().waitFor()
  await page.getByRole('link', { name: 'endpoints', exact: true }).click()
  await page.getByRole('link', { name: 'first' }).waitFor()
  await page.getByRole('link', { name: 'usage', exact: true }).click()
  await page.getByText('Could not load your usage.').waitFor()
  t.ok(await button('Try again').first().isVisible())
})
