import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DatabaseSync } from '../../src/stores/sqlite/driver.ts'
import { Access, message } from '../support/access.ts'
import { withAccounts } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import type { HttpReply } from '../support/http.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'
import { createOwner } from './support/owner.ts'
import { reasonOf, Visitor } from './support/visitor.ts'

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 }, sol: { family: 'solana', chainId: 'solana-test' } },
  routes: [
    { id: 'alpha-secret-name', network: 'alpha', http: node.url, capabilities: ['archive'] },
    { id: 'sol-a', network: 'sol', http: node.url },
  ],
  gateway: { dashboardHost: '127.0.0.1', trustedProxies: ['127.0.0.1/32'] },
})
const owner = await createOwner(gateway, 'alpha')
const stranger = await createOwner(gateway, 'alpha')

let visitors = 0
/** A visitor from an address of its own. */
const visitor = (headers: Record<string, string> = {}) =>
  new Visitor(gateway, { 'x-forwarded-for': `198.51.100.${++visitors}`, ...headers })

/** A visitor who has signed in. */
async function signedIn(secret = owner.token): Promise<Visitor> {
  const fresh = visitor()
  const reply = await fresh.signIn(secret)
  if (reply.status !== 200) throw new Error(reply.text)
  return fresh
}

/** Whether the session still opens the account. */
const opens = async (by: Visitor) => (await by.ask('service_account')).status === 200

/** Asserts a refusal of the dashboard. */
function refusedAs(t: Test, reply: HttpReply, status: number, reason: string, what = reason): void {
  t.equal(reply.status, status, what)
  t.equal(reasonOf(reply), reason, what)
  t.equal(reply.headers['cache-control'], 'no-store')
  t.equal(reply.headers['access-control-allow-origin'], undefined, 'no other page may read it')
}

t.test('the token and a key sign in, and nothing else does', async t => {
  for (const secret of [owner.token, owner.key, ` ${owner.token}\n`]) {
    const by = await signedIn(secret)
    t.equal((await by.call('service_account')).result.accountId, owner.accountId)
    t.strictSame(JSON.parse((await by.send('GET', '/api/session')).text), { signedIn: true })
  }
  const wrong = [owner.token.slice(0, -1), owner.key.replace('tg_', 'tgd_'), '', 'public', owner.accountId]
  for (const secret of wrong) {
    const by = visitor()
    refusedAs(t, await by.signIn(secret), 401, 'invalid_key', secret)
    t.equal(by.cookie, '')
  }
  for (const secret of [null, 1, [owner.token], { secret: owner.token }])
    refusedAs(t, await visitor().signIn(secret), 400, 'invalid_request')
  t.strictSame(JSON.parse((await visitor().send('GET', '/api/session')).text), { signedIn: false })
  refusedAs(t, await visitor().ask('service_account'), 401, 'invalid_key')
})

t.test('a body that looks like a refusal of ours is only a body', async t => {
  const body = JSON.stringify({ reason: 'nope', message: 'x', data: {} })
  refusedAs(t, await visitor().send('POST', '/api/session', { body }), 400, 'invalid_request')
  refusedAs(t, await (await signedIn()).send('POST', '/api/rpc', { body }), 400, 'invalid_request')
})

t.test('the cookie is out of reach of scripts and other sites', async t => {
  const plain = await visitor().signIn(owner.token)
  t.match(plain.headers['set-cookie'], [/^tollgate=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/])
  const tls = await visitor({ 'x-forwarded-proto': 'https' }).signIn(owner.token)
  t.match(tls.headers['set-cookie'], [
    /^__Host-tollgate=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
  ])
  const id = tls.headers['set-cookie']![0]!.split(';')[0]!.split('=')[1]!
  const over = visitor({ 'x-forwarded-proto': 'https' })
  over.cookie = `tollgate=${id}`
  t.notOk(await opens(over), 'over TLS only the __Host- cookie counts')
})

t.test('only a proxy that is trusted says that it was TLS', async t => {
  const other = await startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    gateway: { dashboardHost: '127.0.0.1' },
  })
  const { token } = await createOwner(other, 'alpha')
  const reply = await new Visitor(other, { 'x-forwarded-proto': 'https' }).signIn(token)
  t.match(reply.headers['set-cookie'], [/^tollgate=/])
})

t.test('signing in begins a new session and ends the one before', async t => {
  const by = await signedIn()
  const before = by.cookie
  t.equal((await by.signIn(owner.token)).status, 200)
  t.not(by.cookie, before)
  t.ok(await opens(by))
  const thief = visitor()
  thief.cookie = before
  t.notOk(await opens(thief))
  const fixed = visitor()
  fixed.cookie = 'tollgate=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
  await fixed.signIn(owner.token)
  t.not(fixed.cookie, 'tollgate=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'no id is taken from outside')
})

t.test('a cookie that was stolen is worth nothing after sign-out', async t => {
  const by = await signedIn()
  const thief = visitor()
  thief.cookie = by.cookie
  t.ok(await opens(thief))
  const reply = await by.send('DELETE', '/api/session')
  t.equal(reply.status, 200)
  t.match(reply.headers['set-cookie'], [/^tollgate=; Max-Age=0; Path=\/; HttpOnly; SameSite=Strict$/])
  t.notOk(await opens(thief))
})

t.test('other sites cannot make the browser ask', async t => {
  const by = await signedIn()
  const forgeries: [string, Record<string, string | undefined>][] = [
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['a sibling host', { 'sec-fetch-site': 'same-site', origin: 'https://x.example.test' }],
    ['a typed address', { 'sec-fetch-site': 'none' }],
    ['an old browser on another site', { 'sec-fetch-site': undefined, origin: 'https://evil.example' }],
    ['another port', { 'sec-fetch-site': undefined, origin: 'http://127.0.0.1:1' }],
    ['a sandboxed page', { 'sec-fetch-site': undefined, origin: 'null' }],
    ['nobody knows who', { 'sec-fetch-site': undefined }],
  ]
  for (const [what, headers] of forgeries) {
    refusedAs(
      t,
      await by.ask('service_createEndpoint', { chain: 'alpha' }, { headers }),
      403,
      'origin_denied',
      what,
    )
    refusedAs(t, await by.send('DELETE', '/api/session', { headers }), 403, 'origin_denied', what)
    const secret = JSON.stringify({ secret: stranger.token })
    refusedAs(t, await by.send('POST', '/api/session', { body: secret, headers }), 403, 'origin_denied', what)
  }
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', undefined])
    refusedAs(
      t,
      await by.ask('service_createEndpoint', { chain: 'alpha' }, { headers: { 'content-type': type } }),
      ...([415, 'unsupported_media_type'] as const),
    )
  const { result } = await by.call('service_listEndpoints')
  t.equal(result.total, 1, 'nothing came of any of them')
  t.equal(result.endpoints[0].endpointId, owner.endpointId, 'and it is still the same account')
  const own = {
    headers: { 'sec-fetch-site': undefined, origin: gateway.url, host: `127.0.0.1:${gateway.port}` },
  }
  t.equal(
    (await by.ask('service_account', {}, own)).status,
    200,
    'its own page may, also without Sec-Fetch-Site',
  )
})

t.test("another account's endpoints are not there", async t => {
  const by = await signedIn()
  const { endpointId } = stranger
  for (const method of ['service_getEndpoint', 'service_updateEndpoint', 'service_deleteEndpoint'])
    t.match(await by.call(method, { endpointId }), { id: 7, error: { code: -32004 } })
  t.match(await by.call('service_usage', { by: 'hour', endpointId }), { error: { code: -32004 } })
  const all = await by.ask('service_listEndpoints')
  t.notMatch(all.text, stranger.endpointId)
  t.match(await (await signedIn(stranger.token)).call('service_getEndpoint', { endpointId }), {
    result: { apiKey: stranger.key, status: 'active' },
  })
})

t.test('a session reaches service_* and nothing else', async t => {
  const by = await signedIn()
  const sent = node.calls.length
  for (const method of ['eth_call', 'eth_blockNumber', 'nope', 'constructor', '__proto__'])
    refusedAs(t, await by.ask(method), 200, 'method_not_found', method)
  for (const body of ['[]', '"x"', 'null', `[${message('service_account')}]`])
    refusedAs(t, await by.send('POST', '/api/rpc', { body }), 400, 'invalid_request', body)
  for (const body of ['', '{', Buffer.from([0x22, 0xff, 0x22])])
    refusedAs(t, await by.send('POST', '/api/rpc', { body }), 400, 'parse_error')
  refusedAs(t, await by.send('POST', '/api/rpc', { body: ' '.repeat(70_000) }), 413, 'body_too_large')
  t.equal(node.calls.length, sent)
})

t.test('no key in the list unless it is asked for, no route names at all', async t => {
  const by = await signedIn()
  const list = await by.ask('service_listEndpoints', { keys: false })
  t.notMatch(list.text, owner.key)
  t.match(JSON.parse(list.text).result.endpoints, [{ keyHint: owner.key.slice(-4) }])
  const status = await by.ask('service_networkStatus')
  t.match(JSON.parse(status.text).result.networks[0], {
    slug: 'alpha',
    routes: 1,
    capabilities: { archive: { routes: 1 }, ws: { routes: 0 } },
  })
  t.notMatch(status.text, /secret/)
})

t.test('a key that may not manage its account does not sign in, nor one from the wrong place', async t => {
  const mine = await createOwner(gateway, 'alpha')
  const update = (change: object) =>
    withAccounts(gateway, store => store.endpoints.change(mine.accountId, mine.endpointId, change))
  const session = await signedIn(mine.key)
  const cases: [object, object, string][] = [
    [{ management: false }, { management: true }, 'management_denied'],
    [{ status: 'inactive' }, { status: 'active' }, 'endpoint_inactive'],
    [{ allowedIps: ['203.0.113.0/24'] }, { allowedIps: null }, 'address_denied'],
    [
      { allowedOrigins: ['https://app.example.org'], management: true },
      { allowedOrigins: null, management: true },
      'origin_denied',
    ],
  ]
  for (const [change, back, reason] of cases) {
    const by = visitor()
    await update(change)
    refusedAs(t, await by.signIn(mine.key), 403, reason)
    t.equal(by.cookie, '')
    t.equal((await visitor().signIn(mine.token)).status, 200, 'the token still does')
    await update(back)
    t.equal((await by.signIn(mine.key)).status, 200)
  }
  await update({ management: false })
  const open = await signedIn(mine.token)
  t.ok(await opens(open))
  t.notOk(await opens(session), 'a session opened with the key ends as soon as it may no longer manage')
  await update({ management: true })
  t.notOk(await opens(session), 'and does not come back')
})

t.test('bug: a session outlived the time of its key, and could undo it', async t => {
  const mine = await createOwner(gateway, 'alpha')
  const [session, other] = [await signedIn(mine.key), await signedIn(mine.token)]
  const { endpointId } = mine
  const expiresAt = Math.floor(Date.now() / 1000)
  t.equal((await session.ask('service_updateEndpoint', { endpointId, expiresAt })).status, 200)
  refusedAs(
    t,
    await session.ask('service_updateEndpoint', { endpointId, expiresAt: null }),
    401,
    'invalid_key',
  )
  refusedAs(t, await session.ask('service_listEndpoints'), 401, 'invalid_key')
  refusedAs(t, await visitor().signIn(mine.key), 401, 'invalid_key')
  t.match((await other.call('service_getEndpoint', { endpointId })).result, { expiresAt })
})

t.test(
  'rotating the token, suspending the account and deleting the key end its sessions within a second',
  async t => {
    const cases: [string, (mine: typeof owner) => Promise<unknown>, boolean][] = [
      ['rotate', mine => withAccounts(gateway, all => all.accounts.rotateToken(mine.accountId)), true],
      [
        'suspend',
        mine => withAccounts(gateway, all => all.accounts.change(mine.accountId, { status: 'suspended' })),
        true,
      ],
      [
        'delete',
        mine => withAccounts(gateway, all => all.endpoints.remove(mine.accountId, mine.endpointId)),
        false,
      ],
    ]
    for (const [what, end, both] of cases) {
      const mine = await createOwner(gateway, 'alpha')
      const [byToken, byKey, other] = [await signedIn(mine.token), await signedIn(mine.key), await signedIn()]
      await end(mine)
      const ends = (by: Visitor, whose: string) =>
        until(`${what} ends the session of the ${whose}`, async () => !(await opens(by)), 1_000)
      await ends(byKey, 'key')
      if (both) await ends(byToken, 'token')
      else t.ok(await opens(byToken), 'the session of the token goes on')
      t.ok(await opens(other), "another account's goes on")
    }
  },
)

t.test('guessing is throttled by address, as with bad keys', async t => {
  const by = visitor()
  const replies = []
  for (let i = 0; i < 25; i++) replies.push(await by.signIn(`tgd_${i}`))
  t.strictSame(
    replies.map(({ status }) => status),
    replies.map((_, i) => (i < 20 ? 401 : 429)),
  )
  refusedAs(t, replies.at(-1)!, 429, 'too_many_bad_keys')
  t.equal((await visitor().signIn('tgd_x')).status, 401, 'other addresses are not')
  const bad = new Access(gateway, 'alpha', 'tg_nonsense')
  t.equal(
    (await bad.post(message('eth_gasPrice'), { headers: by.headers })).status,
    429,
    'one count for both',
  )
  t.equal((await by.signIn(owner.token)).status, 200, 'the right token is never counted')
})

t.test('signing in shares the rate of management, as it is a write', async t => {
  const mine = await createOwner(gateway, 'alpha')
  const replies = await Promise.all(Array.from({ length: 60 }, () => visitor().signIn(mine.token)))
  const stopped = replies.filter(({ status }) => status !== 200)
  t.ok(stopped.length > 0 && stopped.length <= 30, `stopped: ${stopped.length}`)
  for (const reply of stopped) refusedAs(t, reply, 429, 'rate_limited')
  t.ok(await opens(await signedIn()), 'other accounts sign in')
})

t.test('calls of the dashboard share the rate of management', async t => {
  const by = await signedIn((await createOwner(gateway, 'alpha')).token)
  const replies = await Promise.all(Array.from({ length: 60 }, () => by.ask('service_account')))
  const stopped = replies.filter(({ status }) => status !== 200)
  // Signing in was one of the thirty.
  t.ok(stopped.length > 0 && stopped.length <= 31, `stopped: ${stopped.length}`)
  for (const reply of stopped) refusedAs(t, reply, 429, 'rate_limited')
})

t.test('a restart signs nobody out; what ended before it stays ended', async t => {
  const [stays, left, rotated] = [await signedIn(), await signedIn(), await signedIn(stranger.token)]
  const ended = left.cookie
  t.equal((await left.send('DELETE', '/api/session')).status, 200)
  await gateway.stop()
  await withAccounts(gateway, store => store.accounts.rotateToken(stranger.accountId))
  await gateway.start()
  t.ok(await opens(stays))
  const thief = visitor()
  thief.cookie = ended
  t.notOk(await opens(thief))
  t.notOk(await opens(rotated), 'its token changed meanwhile')
})

t.test(
  'while accounts.db cannot be written, the signed-in stay so, and signing in says that it failed',
  async t => {
    const by = await signedIn()
    // The gateway may be writing meanwhile.
    const raw = new DatabaseSync(join(gateway.dir, 'data', 'accounts.db'), { timeout: 5_000 })
    t.teardown(() => raw.close())
    raw.exec(`
    CREATE TRIGGER no_insert BEFORE INSERT ON session BEGIN SELECT raise(ABORT, 'no room'); END;
    CREATE TRIGGER no_delete BEFORE DELETE ON session BEGIN SELECT raise(ABORT, 'no room'); END`)
    t.ok(await opens(by))
    const fresh = visitor()
    refusedAs(t, await fresh.signIn(owner.token), 500, 'internal')
    t.equal(fresh.cookie, '')
    refusedAs(t, await by.send('DELETE', '/api/session'), 500, 'internal')
    t.ok(await opens(by), 'who could not sign out is still signed in')
    raw.exec('DROP TRIGGER no_insert; DROP TRIGGER no_delete')
    t.equal((await fresh.signIn(owner.token)).status, 200)
    t.equal((await by.send('DELETE', '/api/session')).status, 200)
    t.match(gateway.printed, /accounts\.db: no room/)
  },
)

t.test('a new token needs the present one, ends every other session and keeps this one', async t => {
  const own = await createOwner(gateway, 'alpha')
  const [by, other, withKey] = [await signedIn(own.token), await signedIn(own.token), await signedIn(own.key)]
  const replace = (of: Visitor, token: unknown, options = {}) =>
    of.send('POST', '/api/token', { body: JSON.stringify({ token }), ...options })
  refusedAs(t, await replace(visitor(), own.token), 401, 'invalid_key', 'not signed in')
  const foreign = { headers: { 'sec-fetch-site': 'cross-site' } }
  refusedAs(t, await replace(by, own.token, foreign), 403, 'origin_denied', 'another site')
  refusedAs(t, await replace(by, 5), 400, 'invalid_request')
  for (const wrong of ['tgd_nope', own.key, owner.token])
    for (const of of [by, withKey])
      t.equal(
        reasonOf(await replace(of, wrong)),
        'invalid_params',
        'neither a key nor the token of another account',
      )
  t.ok((await opens(by)) && (await opens(other)) && (await opens(withKey)), 'nothing has happened yet')

  const reply = await replace(by, own.token)
  t.equal(reply.status, 200)
  const { dashboardToken } = JSON.parse(reply.text)
  t.match(dashboardToken, /^tgd_\w+$/)
  t.ok(await opens(by), 'who has replaced it goes on')
  t.notOk((await opens(other)) || (await opens(withKey)), 'everybody else is signed out')
  refusedAs(t, await visitor().signIn(own.token), 401, 'invalid_key', 'the old token is revoked')
  t.ok(await opens(await signedIn(dashboardToken)))
  const [entry] = (await by.call('service_audit', { limit: 1 })).result.entries
  t.match(entry, { action: 'account.token_rotated', actor: 'owner:dashboard' })
})

t.test('nothing secret is printed', t => {
  for (const secret of [owner.token, owner.key, stranger.token]) t.notMatch(gateway.printed, secret)
  t.end()
})
