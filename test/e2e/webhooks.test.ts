/** What webhooks are told: each part of a quota once a window, signed, again after failures and a restart, while no call waits. */
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { AdminApi } from '../support/admin-api.ts'
import { run } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import type { Gateway } from '../support/gateway.ts'
import { metric } from '../support/metrics.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

interface Told {
  readonly id: string
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A receiver of webhooks; `answer` says how it answers. */
class Hook {
  readonly told: Told[] = []
  answer: (type: string) => number | null = () => 204
  readonly #server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const text = Buffer.concat(parts).toString()
      const { type, data } = JSON.parse(text) as Pick<Told, 'type' | 'data'>
      const status = this.answer(type)
      this.told.push({
        id: String(request.headers['webhook-id']),
        status: status ?? 0,
        headers: request.headers,
        text,
        type,
        data,
      })
      if (status !== null) response.writeHead(status).end()
    })
  })

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    t.teardown(() => {
      this.#server.close()
      this.#server.closeAllConnections()
    })
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook?token=secret-of-the-url`
  }

  of(type: string): readonly Told[] {
    return this.told.filter(each => each.type === type && each.status < 300 && each.status > 0)
  }
}

async function start(url: string, workers: number): Promise<Gateway> {
  const node = await startNode(t, { chainId: 1001 })
  return startGateway(
    t,
    {
      networks: { alpha: { chainId: 1001 }, dead: { chainId: 1002 } },
      routes: [
        { id: 'alpha-a', network: 'alpha', http: node.url },
        { id: 'dead-a', network: 'dead', http: 'http://127.0.0.1:1' },
      ],
      methods: fewMethods,
      plans: {
        small: {
          tiers: ['any'],
          rate: { perSecond: 10_000, burst: 10_000 },
          maxBatch: 100,
          quota: { requests: 100, every: '30d' },
          ws: { connections: 5, subscriptions: 5 },
          alerts: { quota: ['50%', '100%'] },
        },
      },
      gateway: {
        workers,
        timeouts: { drainIdle: '1ms' },
        alerts: { webhook: url, secret: '${ALERTS_SECRET}', allowPrivate: true },
      },
    },
    { env: { ALERTS_SECRET: SECRET } },
  )
}

for (const workers of [1, 2])
  t.test(`workers ${workers}: webhooks`, async t => {
    const hook = new Hook()
    const gateway = await start(await hook.start(), workers)
    const access = await createAccess(gateway, 'small', 'alpha')
    const spend = async (calls: number) => {
      const reply = await access.post(
        `[${Array.from({ length: calls }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"eth_gasPrice","params":[]}`).join(',')}]`,
      )
      return reply.status
    }

    // A primary that is killed leaves its data to the next one only when its processes have ended.
    const end = (): Promise<unknown> => (workers === 1 ? gateway.kill9() : gateway.stop())

    await t.test('a network without a route is told, and each message verifies', async t => {
      await until('it is told', () => Promise.resolve(hook.of('network.down').length > 0))
      const { headers, text, data } = hook.of('network.down')[0]!
      t.match(data, { network: 'dead', why: /dead-a/ })
      t.match(new Webhook(SECRET).verify(text, headers as Record<string, string>), { type: 'network.down' })
      t.throws(() => new Webhook(SECRET).verify(`${text} `, headers as Record<string, string>))
      t.match(headers, { 'content-type': 'application/json', 'user-agent': /^Tollgate\// })
    })

    await t.test(
      'each part of a quota is told once, across a restart and a kill, with a webhook that fails at first',
      async t => {
        let failures = 1
        hook.answer = type => (type === 'quota.threshold' && failures-- > 0 ? 500 : 204)
        t.equal(await spend(49), 200)
        t.equal(await spend(2), 200)
        await until('half is told', () => Promise.resolve(hook.of('quota.threshold').length === 1))
        t.match(hook.of('quota.threshold')[0]!.data, {
          accountId: access.accountId,
          plan: 'small',
          threshold: '50%',
          requests: 100,
          used: 51,
        })
        const ids = hook.told.filter(({ type }) => type === 'quota.threshold').map(({ id }) => id)
        t.equal(new Set(ids).size, 1, 'every attempt has the same id')
        await gateway.stop()
        await gateway.start()
        t.equal(await spend(48), 200)
        t.equal(await spend(1), 200)
        await end()
        hook.answer = type => (type === 'quota.threshold' ? null : 204)
        await gateway.start()
        await until('all of it is told', () =>
          Promise.resolve(hook.told.some(({ data }) => data['threshold'] === '100%')),
        )
        // The webhook does not answer: calls do not wait for it.
        t.equal((await access.call('eth_gasPrice')).error.data.reason, 'quota_exhausted')
        hook.answer = () => 204
        await end()
        await gateway.start()
        await until('it is taken', () => Promise.resolve(hook.of('quota.threshold').length === 2))
        t.strictSame(
          hook.of('quota.threshold').map(({ data }) => data['threshold']),
          ['50%', '100%'],
        )
        t.match(await metric(gateway, 'tollgate_quota_nearly_spent_accounts'), 1)
      },
    )

    await t.test('an account has a webhook of its own, and hears of itself alone', async t => {
      const own = new Hook()
      const url = await own.start()
      const { secret } = await withAccounts(gateway, store =>
        store.tokens.create({ name: null, scopes: ['accounts:read', 'accounts:write'], expiresAt: null }),
      )
      const api = new AdminApi(gateway, secret)
      const other = await createAccess(gateway, 'paid', 'alpha')
      const set = await api.call('PATCH', `/v1/accounts/${other.accountId}`, { webhook: url })
      const shown = `${new URL(url).origin}/…`
      t.match(set, { status: 200, body: { webhook: shown, webhookSecret: /^whsec_/ } })
      const signed = (set.body as { webhookSecret: string }).webhookSecret
      t.notOk(
        'webhookSecret' in ((await api.call('PATCH', `/v1/accounts/${other.accountId}`, {})).body as object),
      )
      const { body: state } = await api.call('GET', `/v1/accounts/${other.accountId}`)
      t.equal((state as { webhook: unknown }).webhook, shown, 'bug: who may read the account sees it')
      const { stdout } = await run(['account', 'show', other.accountId, '--config', gateway.dir])
      t.match(stdout, `webhook   ${shown}`, 'bug: so does the operator')
      const audited = await run(['audit', '--target', other.accountId, '--config', gateway.dir])
      t.match(audited.stdout, `webhook: null → "${shown}"`, 'bug: so does who reads the trail')
      await run(['endpoint', 'rotate', other.endpointId, '--overlap', '1h', '--config', gateway.dir])
      await run(['account', 'suspend', other.accountId, '--config', gateway.dir])
      await run(['account', 'suspend', access.accountId, '--config', gateway.dir])
      await until('both are told', () => Promise.resolve(own.told.length >= 2))
      await until('the operator is told of all', () =>
        Promise.resolve(hook.of('account.suspended').length === 2),
      )
      t.strictSame(
        own.told.map(({ type, data }) => [type, data['accountId']]),
        [
          ['key.rotated', other.accountId],
          ['account.suspended', other.accountId],
        ],
      )
      for (const { text, headers } of own.told) {
        new Webhook(signed).verify(text, headers as Record<string, string>)
        t.throws(() => new Webhook(SECRET).verify(text, headers as Record<string, string>))
      }
      t.notOk(/secret-of-the-url|whsec_/.test(gateway.printed), 'neither URL nor secret is logged')
      t.match(await api.call('PATCH', `/v1/accounts/${other.accountId}`, { webhook: null }), {
        status: 200,
        body: { webhook: null },
      })
    })
  })
