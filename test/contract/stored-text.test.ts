/** Text that is stored is printable, on every way in: the admin API, management calls, the dashboard, the command line. */
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { escapeText } from '../../src/config/words/printable.ts'
import { SCOPES } from '../../src/ports/tokens.ts'
import { createAccess } from '../support/accounts.ts'
import { adminApi } from '../support/admin-api.ts'
import { run } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { createOwner } from '../dashboard/support/owner.ts'
import { Visitor } from '../dashboard/support/visitor.ts'

/** NUL, ESC, DEL, the C1 form of `ESC [`, a bidirectional override, a line separator, a byte order mark, half of a surrogate pair. */
const BAD = ['\0', '\x1b', '\x7f', '\x9b', '\u202e', '\u2028', '\ufeff', '\ud800']

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
  gateway: { dashboardHost: '127.0.0.1', alerts: { allowPrivate: true } },
})
const owner = await createOwner(gateway, 'alpha')
const { accountId, endpointId } = owner
const access = await createAccess(gateway, 'paid', 'alpha')

/** Members that hold text, each with a bad one or one that is too long in it. */
const texts = (bad: string) => ({
  name: `a${bad}b`,
  externalId: `a${bad}b`,
  email: `a${bad}b@example.org`,
  webhook: `https://hooks.example.org/a${bad}b`,
  labels: { team: `a${bad}b` },
})
/** Names of tests are lines of a report. */
const shown = (asked: unknown): string => escapeText(JSON.stringify(asked)).slice(0, 200)
const LONG = 'x'.repeat(3_000)

t.test('the admin API refuses it, with the member', async t => {
  const api = await adminApi(gateway, ...SCOPES)
  const [account, endpoint] = [`/v1/accounts/${accountId}`, `/v1/endpoints/${endpointId}`]
  const refused = async (...asked: Parameters<typeof api.call>): Promise<void> => {
    const reply = await api.call(...asked)
    t.match(reply, { status: 400, body: { reason: 'invalid_params' } }, shown(asked))
  }
  for (const bad of [...BAD, LONG]) {
    const { webhook, ...notes } = texts(bad)
    for (const [member, value] of Object.entries({ ...notes, webhook })) {
      await refused('PATCH', account, { [member]: value })
      if (member !== 'webhook')
        await refused('POST', '/v1/accounts', { name: 'n', plan: 'free', [member]: value })
    }
    await refused('PATCH', endpoint, { name: notes.name })
    await refused('PATCH', endpoint, { labels: notes.labels })
    await refused('PATCH', endpoint, { allowedOrigins: [`https://a${bad}b.example.org`] })
    await refused('POST', `${account}/endpoints`, { network: 'alpha', name: notes.name })
    await refused('POST', `${account}/endpoints`, { network: `alpha${bad}` })
    await refused('POST', '/v1/keys:lookup', { key: `k${bad}` })
    if (bad === '\ud800') continue
    for (const query of ['account', 'endpoint', 'network', 'method', 'cursor'])
      await refused('GET', `/v1/usage?${query}=${encodeURIComponent(`a${bad}b`)}`)
    await refused('GET', `/v1/accounts?email=${encodeURIComponent(notes.email)}`)
    await refused('GET', `/v1/audit?actor=${encodeURIComponent(`a${bad}b`)}`)
  }
  const after = await api.call('GET', account)
  t.match(after.body, { name: 'Acme', email: null, externalId: null, labels: {}, webhook: null })
})

t.test('a request is sent once under a key of printable ASCII alone', async t => {
  const api = await adminApi(gateway, ...SCOPES)
  for (const key of ['a\x80b', 'a b', 'x'.repeat(256)]) {
    const reply = await api.call(
      'POST',
      '/v1/accounts',
      { name: 'n', plan: 'free' },
      { 'idempotency-key': key },
    )
    t.match(reply, { status: 400, body: { reason: 'invalid_params' } }, shown(key))
  }
})

/** The calls of an owner that name or look up something. */
const calls = (bad: string): [string, object][] => [
  ['service_createEndpoint', { chain: 'alpha', name: texts(bad).name }],
  ['service_createEndpoint', { chain: `alpha${bad}` }],
  ['service_updateEndpoint', { endpointId, name: texts(bad).name }],
  ['service_updateEndpoint', { endpointId, labels: texts(bad).labels }],
  ['service_updateEndpoint', { endpointId, allowedOrigins: [`app://a${bad}b c`] }],
  ['service_updateEndpoint', { endpointId: `${endpointId}${bad}`, name: 'x' }],
  ['service_getEndpoint', { endpointId: `${endpointId}${bad}` }],
  ['service_deleteEndpoint', { endpointId: `${endpointId}${bad}` }],
  ['service_rotateKey', { endpointId: `${endpointId}${bad}` }],
  ['service_setAlerts', { webhook: texts(bad).webhook }],
  ['service_usage', { by: 'day', endpointId: `${endpointId}${bad}` }],
  ['service_usage', { by: 'day', network: `alpha${bad}` }],
  ['service_usage', { by: 'day', method: `eth_call${bad}` }],
  ['service_usage', { by: 'day', cursor: `x${bad}` }],
]

/** Asserts that an owner's calls are refused for their params. */
async function refuseAll(
  t: Test,
  ask: (method: string, params: object) => Promise<{ error?: object }>,
): Promise<void> {
  // Calls of management are limited to ten a second.
  for (const bad of ['\0', '\x9b', LONG])
    for (const [method, params] of calls(bad)) {
      const { error } = await ask(method, params)
      t.match(error, { code: -32602, data: { reason: 'invalid_params' } }, shown([method, params]))
    }
}

t.test('management calls refuse it', async t => {
  await refuseAll(t, (method, params) => access.manage(method, [params]) as Promise<{ error?: object }>)
})

t.test('calls of the dashboard refuse it', async t => {
  const by = new Visitor(gateway)
  t.equal((await by.signIn(owner.token)).status, 200)
  interface Reply {
    result?: object
    error?: { data: { reason: string; retryAfterMs: number } }
  }
  const call = async (method: string, params: object): Promise<Reply> => {
    for (;;) {
      const reply = (await by.call(method, params)) as Reply
      if (reply.error?.data.reason !== 'rate_limited') return reply
      await pause(reply.error.data.retryAfterMs)
    }
  }
  await refuseAll(t, call)
  const { endpoints } = (await call('service_listEndpoints', {})).result as { endpoints: object[] }
  t.match(endpoints, [{ endpointId, name: 'first', labels: {}, allowedOrigins: null }])
  t.equal(endpoints.length, 1)
})

t.test('the command line refuses it', async t => {
  // An argument of a process holds no NUL, and what is not UTF-8 arrives as U+FFFD.
  for (const bad of ['\n', ...BAD.slice(1, -1), LONG]) {
    const { name, email, externalId } = texts(bad)
    const label = `team=a${bad}b`
    const wrong = [
      ['account', 'create', name, '--plan', 'free'],
      ['account', 'rename', accountId, name],
      ['account', 'label', accountId, '--email', email],
      ['account', 'label', accountId, '--external-id', externalId],
      ['account', 'label', accountId, '--set', label],
      ['endpoint', 'label', endpointId, '--set', label],
      ['endpoint', 'create', '--account', accountId, '--chain', 'alpha', '--label', label],
      ['token', 'create', '--scope', 'usage:read', '--name', name],
    ]
    for (const args of wrong) {
      const { code, stdout, stderr } = await run([...args, '--config', gateway.dir])
      t.equal(code, 2, shown(args))
      t.equal(stdout, '')
      t.notMatch(stderr, /[\x1b\x7f\x9b\u202e\u2028\ufeff]/, 'and repeats none of it as it is')
    }
    const named = ['endpoint', 'create', '--account', accountId, '--chain', 'alpha', '--name', name]
    t.equal((await run([...named, '--config', gateway.dir])).code, 1)
  }
})

t.test('nothing of it was a bug of the gateway', t => {
  t.notMatch(gateway.printed, /internal error/)
  t.end()
})
