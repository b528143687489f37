import t from 'tap'
import { openWithEndpoint } from './support/open-store.ts'

t.test('bug: an old key ended before its overlap was over, as the second had begun already', async t => {
  const { store, account, endpoint } = await openWithEndpoint(t)
  const began = Date.now()
  const rotated = await store.endpoints.rotateKey(account.id, endpoint.id, 1)
  if (rotated === null || typeof rotated === 'string') throw new Error('not rotated')
  t.ok(Number.isInteger(rotated.oldKeyExpiresAt))
  t.ok(rotated.oldKeyExpiresAt! * 1000 >= began + 1_000)
  t.ok(rotated.oldKeyExpiresAt! * 1000 <= Date.now() + 2_000)
})
