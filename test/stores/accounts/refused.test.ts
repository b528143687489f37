/** Changes that accounts.db would not keep are refused, and what it holds is read on. */
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { StoreUnavailable } from '../../../src/ports/store-unavailable.ts'
import { openWithEndpoint } from './support/open-store.ts'

t.test('a file that was found to be damaged takes no change, not even one that waits already', async t => {
  const { store, account, endpoint } = await openWithEndpoint(t)
  const heard: Error[] = []
  store.onRefused(reason => heard.push(reason))
  const reason = new Error('accounts.db is damaged: a page')
  const waiting = store.accounts.change(account.id, { plan: 'paid' })
  store.refuse(reason)
  t.strictSame(heard, [reason])
  t.equal(store.refused, reason)
  const refused = { name: 'StoreUnavailable', message: reason.message, cause: reason }
  await t.rejects(waiting, refused)
  await t.rejects(store.endpoints.create({ accountId: account.id, network: 'bsc' }), refused)
  t.match(store.findByKey(endpoint.apiKey), { account: { plan: 'free' } })
})

t.test('a change of a file that was moved away is refused, with what became of it', async t => {
  const { store, account, dataDir } = await openWithEndpoint(t)
  renameSync(join(dataDir, 'accounts.db'), join(dataDir, 'elsewhere'))
  const change = store.accounts.change(account.id, { plan: 'paid' })
  await t.rejects(change, StoreUnavailable)
  await t.rejects(change, { message: /accounts\.db was removed while it was open: the change is lost$/ })
})
