/** Events of gateways that share accounts: each reaches the operator's webhook, whoever is killed and whichever YAML is older. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { fewMethods } from '../support/few-methods.ts'
import { startFleet } from '../support/fleet.ts'
import type { Gateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { noServers } from '../support/servers.ts'
import { apiOf, at, makeAccess } from '../support/shared-accounts.ts'
import { until } from '../support/until.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
/** Milliseconds within which another gateway posts for one that was killed, and a margin. */
const TAKEN_OVER = 40_000

interface Told {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

async function startHook(t: Test): Promise<{ url: string; told: Told[] }> {
  const told: Told[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (part: Buffer) => (text += part.toString()))
    request.on('end', () => {
      told.push(JSON.parse(text) as Told)
      response.writeHead(204).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, told }
}

t.test('gateways that are killed one after the other', { skip: noServers, timeout: 300_000 }, async t => {
  const { url, told } = await startHook(t)
  const node = await startNode(t, { chainId: 1001 })
  const fleet = await startFleet(
    t,
    {
      networks: { alpha: { chainId: 1001 } },
      routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
      methods: fewMethods,
      plans: {
        paid: { tiers: ['any'] },
        small: { tiers: ['any'], quota: { requests: 10, every: '30d' }, alerts: { quota: ['50%'] } },
      },
    },
    // The second one's YAML is not edited yet.
    [{ alerts: { webhook: url, secret: SECRET, allowPrivate: true } }, {}],
  )
  const [a, b] = fleet.gateways as [Gateway, Gateway]
  const accesses = []
  for (let n = 0; n < 6; n += 1) accesses.push(await makeAccess(a, 'paid'))
  const quota = await makeAccess(a, 'small')
  const ids = accesses.map(({ accountId }) => accountId)
  const api = { a: await apiOf(a), b: await apiOf(b) }
  const suspend = async (by: keyof typeof api, id: string): Promise<void> => {
    t.equal((await api[by].call('PATCH', `/v1/accounts/${id}`, { status: 'suspended' })).status, 200)
  }
  const suspended = (): unknown[] =>
    told.filter(({ type }) => type === 'account.suspended').map(({ data }) => data['accountId'])
  const read = async (): Promise<boolean> => {
    const [{ unread }] = (await fleet.query(
      'SELECT (SELECT max(seq) FROM audit) > (SELECT seq FROM trail) AS unread',
    )) as [{ unread: boolean }]
    return !unread
  }

  await t.test('no event is lost with the gateway that made it, nor by one without the webhook', async t => {
    await suspend('a', ids[0]!)
    await a.kill9()
    await suspend('b', ids[1]!)
    await suspend('b', ids[2]!)
    for (let n = 0; n < 6; n += 1) await at(quota, b).call('eth_gasPrice')
    await until('the other one has read them', read, TAKEN_OVER)
    await until('and raised the quota', async () => (await fleet.query('SELECT 1 FROM raised')).length > 0)
    await suspend('b', ids[3]!)
    await b.kill9()
    await a.start()
    await suspend('a', ids[4]!)
    await a.kill9()
    await b.start()
    await suspend('b', ids[5]!)
    await a.start()
    await until('all are told', () => Promise.resolve(new Set(suspended()).size === 6), TAKEN_OVER)
    t.strictSame([...new Set(suspended())].sort(), [...ids].sort())
    const thresholds = told.filter(({ type }) => type === 'quota.threshold').map(({ data }) => data)
    t.match(thresholds[0], { accountId: quota.accountId, threshold: '50%' })
  })
})
