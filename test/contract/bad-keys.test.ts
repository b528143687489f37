import t from 'tap'
import { Access, message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { refused } from '../support/refusals.ts'
import { startNode } from '../support/scripted-node.ts'

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 }, sol: { family: 'solana', chainId: 'solana-test' } },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url },
    { id: 'sol-a', network: 'sol', http: node.url },
  ],
  gateway: { trustedProxies: ['127.0.0.1/32'] },
})
const families = [
  { family: 'evm', slug: 'alpha', body: message('web3_sha3', ['0x00']) },
  { family: 'solana', slug: 'sol', body: message('getMinimumBalanceForRentExemption', [1]) },
] as const

let addresses = 0
const fromAnew = () => ({ 'x-forwarded-for': `198.51.100.${++addresses}` })

for (const { family, slug, body } of families) {
  t.test(`${family}: too_many_bad_keys for one address, whose good key still works`, async t => {
    const access = await createAccess(gateway, 'paid', slug)
    const headers = fromAnew()
    const bad = new Access(gateway, slug, 'tg_nonsense')
    const replies = []
    for (let i = 0; i < 25; i++) replies.push(await bad.post(body, { headers }))
    t.strictSame(
      replies.map(({ status }) => status),
      replies.map((_, i) => (i < 20 ? 401 : 429)),
    )
    for (const reply of replies.slice(20)) refused(t, reply, { reason: 'too_many_bad_keys', family })
    t.equal((await access.post(body, { headers })).status, 200)
    refused(t, await bad.post(body, { headers: fromAnew() }), { reason: 'invalid_key', family })
  })
}
