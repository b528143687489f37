/** What is changed on one machine of a fleet under load: how many can be made at once, and how soon it acts on the other. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { Access } from '../support/access.ts'
import { run } from '../support/cli.ts'
import { LOADED, startFaultyFleet } from '../support/faulty-fleet.ts'
import { FLEET_ENV } from '../support/fleet.ts'
import { mixedCosts } from '../support/ledger-load.ts'
import { noServers } from '../support/servers.ts'
import { apiOf, at, becomes, makeAccess, reasonOf, SOON } from '../support/shared-accounts.ts'
import { until } from '../support/until.ts'

/** What tells that a key is known, and costs nothing. */
const FREE = 'service_account'
/** Milliseconds: changes that wait for each other take longer than a second or two where other tests run beside this one. */
const PATIENCE = 20_000
/** Milliseconds between two calls with a key that may be unknown: an address with twenty of them in a minute is refused for those. */
const SELDOM = 500

t.test('changes in a fleet', { skip: noServers, timeout: 180_000 }, async t => {
  const plans = { narrow: { ...LOADED, ws: { connections: 2, subscriptions: 100 } } }
  const fleet = await startFaultyFleet(t, { plans, timeout: PATIENCE })
  const { load, accesses, toPostgres } = fleet
  const [a, b] = fleet.gateways as [(typeof fleet.gateways)[0], (typeof fleet.gateways)[0]]

  t.test('of 200 endpoints that both make at once for one account exactly 100 come to be', async t => {
    const { accountId } = await makeAccess(a, 'paid')
    const path = `/v1/accounts/${accountId}/endpoints`
    const apis = [await apiOf(a), await apiOf(b)]
    await until('both know the account', async () => {
      const replies = await Promise.all(apis.map(api => api.call('GET', path)))
      return replies.every(({ status }) => status === 200)
    })
    await load.send(50, async () => {
      const made = await Promise.all(
        Array.from({ length: 200 }, (_, i) => apis[i % 2]!.call('POST', path, { network: 'alpha' })),
      )
      const keys = made.flatMap(({ status, body }) => (status === 201 ? [String(body.apiKey)] : []))
      // One was there before.
      t.equal(new Set(keys).size, 99)
      const refused = made.filter(({ status }) => status !== 201).map(({ body }) => String(body.reason))
      t.strictSame([refused.length, ...new Set(refused)], [101, 'endpoint_limit'])
      for (const gateway of [a, b])
        for (const key of [keys[0]!, keys.at(-1)!]) await becomesKnown(new Access(gateway, 'alpha', key))
    })
    await fleet.hold(t, 'racing creations')
  })

  for (const notifies of [true, false])
    t.test(
      `a key that one deletes the other refuses within 5 s, ${notifies ? 'with' : 'without'} NOTIFY`,
      async t => {
        toPostgres[1]!.notifies = notifies
        const access = await makeAccess(a, 'paid')
        await load.send(50, async () => {
          for (let time = 0; time < 2; time += 1) {
            const other = await access.another('alpha')
            await becomesKnown(at(other, b))
            await access.managed('service_deleteEndpoint', [{ endpointId: other.endpointId }])
            const begin = performance.now()
            await becomes(at(other, b), 'invalid_key', FREE)
            const took = performance.now() - begin
            t.ok(took < 5_000, `it took ${Math.round(took)} ms`)
          }
        })
        toPostgres[1]!.notifies = true
        await fleet.hold(t, 'deleted keys')
      },
    )

  t.test('a smaller plan closes sockets on both', async t => {
    const set = async (plan: string) => {
      const words = ['account', 'set-plan', accesses[0]!.accountId, plan, '--config', a.dir]
      t.match(await run(words, FLEET_ENV), { code: 0 })
    }
    await load.send(50, async () => {
      load.asked += 6 * mixedCosts['eth_subscribe']!
      const opened = await Promise.all(
        load.loaded.map(one => Promise.all([1, 2, 3].map(() => one.subscribed()))),
      )
      await set('narrow')
      const open = () => opened.flat().filter(({ code }) => code === 0)
      await until('those beyond the plan are closed', () => Promise.resolve(open().length <= 2))
      const codes = opened.map(own => own.map(({ code }) => code).filter(code => code !== 0))
      // Which of them, each machine decides by what it knows of the other.
      t.ok(
        codes.every(own => own.length > 0 && own.every(code => code === 1008)),
        `on each of them: ${JSON.stringify(codes)}`,
      )
      await set('paid')
      for (const socket of open()) await socket.close()
    })
    await fleet.hold(t, 'a smaller plan')
  })
})

/** Resolves when its key is known there. */
async function becomesKnown(access: Access): Promise<void> {
  const isKnown = async () => {
    await pause(SELDOM)
    return (await reasonOf(access, FREE)) === 'served'
  }
  await until('the key is known', isKnown, SOON)
}
