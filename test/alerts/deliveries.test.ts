/** Who waits for whom among webhooks: on a real store, with real receivers. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { Deliveries } from '../../src/alerts/deliveries.ts'
import { post } from '../../src/alerts/post.ts'
import type { AlertEvent } from '../../src/config/alerts.ts'
import { openStore } from '../stores/accounts/support/open-store.ts'
import { until } from '../support/until.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** A receiver that takes a while to answer, or never does. */
class Hook {
  readonly told: string[] = []
  isOpen = true
  mostAtOnce = 0
  #atOnce = 0
  readonly #server = createServer((request, response) => {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#atOnce)
    response.on('close', () => this.#atOnce--)
    let text = ''
    request.on('data', (part: Buffer) => (text += part.toString()))
    request.on('end', () => {
      const { type, data } = JSON.parse(text) as { type: string; data: { n?: number } }
      this.told.push(`${type} ${data.n ?? ''}`)
      if (this.isOpen) setTimeout(() => response.writeHead(204).end(), 30)
    })
  })

  async start(t: Test): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    t.teardown(() => {
      this.#server.close()
      this.#server.closeAllConnections()
    })
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }
}

async function start(t: Test) {
  const hook = new Hook()
  const url = await hook.start(t)
  const { store } = await openStore(t)
  const failed: string[] = []
  const deliveries = new Deliveries({
    alerts: store.alerts,
    operators: () => ({ url, secret: SECRET }),
    allowPrivate: () => true,
    post,
    version: '0',
    now: Date.now,
    failed: (_, why) => failed.push(why),
    broken: error => {
      throw error
    },
  })
  t.teardown(() => deliveries.close())
  const raise = (type: AlertEvent, accountId: string | null, data: object = {}, toOperator = true) =>
    store.alerts.raise({ type, accountId, data: data as Readonly<Record<string, unknown>> }, toOperator)
  const withWebhook = async (url: string) => {
    const { account } = await store.accounts.create({ name: 'x', plan: 'free' })
    await store.alerts.setWebhook(account.id, url)
    return account.id
  }
  return { hook, store, deliveries, raise, withWebhook, failed }
}

t.test(
  'bug: a burst is delivered without a wait between two messages, and a network is ahead of it',
  async t => {
    const { hook, deliveries, raise, store } = await start(t)
    await Promise.all(Array.from({ length: 120 }, (_, n) => raise('account.suspended', `acc_${n}`, { n })))
    deliveries.look()
    await until('some are in flight', () => Promise.resolve(hook.told.length > 0))
    await raise('network.down', null)
    await until('all have come', () => Promise.resolve(hook.told.length === 121))
    t.ok(
      hook.told.indexOf('network.down ') < 100,
      `the network came as number ${hook.told.indexOf('network.down ')}`,
    )
    t.equal(new Set(hook.told).size, 121, 'each came once')
    t.ok(hook.mostAtOnce > 1 && hook.mostAtOnce <= 8, `${hook.mostAtOnce} at a time`)
    await until('all are written off', () => Promise.resolve(store.alerts.waiting().operator === 0))
  },
)

t.test('bug: webhooks that hang hold up neither the operator nor a webhook that answers', async t => {
  const { hook, deliveries, raise, withWebhook, failed } = await start(t)
  const hanging = new Hook()
  hanging.isOpen = false
  const url = await hanging.start(t)
  for (let n = 0; n < 40; n += 1) {
    const id = await withWebhook(url)
    for (let m = 0; m < 3; m += 1) await raise('key.rotated', id, {}, false)
  }
  deliveries.look()
  await until('they hang', () => Promise.resolve(hanging.told.length >= 8))
  const own = new Hook()
  const healthy = await withWebhook(await own.start(t))
  for (let n = 0; n < 20; n += 1) await raise('key.rotated', healthy, { n })
  deliveries.look()
  await until('the operator hears', () => Promise.resolve(hook.told.length === 20))
  t.strictSame(failed, [], 'that had to wait for no hanging one')
  await until('who answers hears', () => Promise.resolve(own.told.length === 20))
  t.ok(hanging.mostAtOnce <= 32, `${hanging.mostAtOnce} of those that hang are tried at a time`)
  t.ok(failed.length > 0, 'some of those that hang made room')
})
