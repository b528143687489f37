import t from 'tap'
import { Access, message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { hostOf } from '../support/config-files.ts'
import { reply, result } from '../support/node-replies.ts'
import { observe } from '../support/observe.ts'
import { commonHeaders, refused } from '../support/refusals.ts'
import { startBench } from './message-bench.ts'

const { gateway, nodes, access: create } = await startBench(t)
const access = await create('evm')
const body = message('web3_sha3', ['0x00'])
const ratesOf = (headers: Record<string, unknown>) =>
  ['limit', 'remaining', 'reset'].map(name => headers[`x-ratelimit-${name}`])

t.test('a metered reply tells the rate that is left', async t => {
  const before = Math.floor(Date.now() / 1000)
  const first = await access.post(body)
  commonHeaders(t, first)
  const [limit, remaining, reset] = ratesOf(first.headers).map(Number)
  t.equal(limit, 100_000)
  // What the call took comes back at a hundred units a millisecond.
  t.ok(remaining! <= 100_000 && remaining! > 99_000, `remaining: ${remaining}`)
  t.ok(Number.isInteger(reset) && reset! >= before && reset! <= before + 60, `reset: ${reset}`)
})

t.test('every reply has an id of its own', async t => {
  const replies = await Promise.all([access.post(body), access.post(body), access.post('{')])
  t.equal(new Set(replies.map(({ headers }) => headers['x-request-id'])).size, 3)
})

t.test('a refusal before the call is known tells no rate', async t => {
  const denied = await new Access(gateway, 'alpha', 'tg_nonsense').post(body)
  refused(t, denied, { reason: 'invalid_key' })
  t.same(ratesOf(denied.headers), [undefined, undefined, undefined])
})

t.test('a silent reply has no body but the common headers', async t => {
  const silent = await access.post('{"jsonrpc":"2.0","method":"web3_sha3","params":["0x00"]}')
  t.equal(silent.status, 204)
  t.equal(silent.text, '')
  t.equal(silent.headers['cache-control'], 'no-store')
  t.equal(silent.headers['access-control-allow-origin'], '*')
  t.match(silent.headers['x-request-id'], /^\S+$/)
})

t.test('a preflight is answered for anybody and costs nothing', async t => {
  const preflight = (path: string, host?: string) =>
    gateway.send({
      method: 'OPTIONS',
      path,
      headers: {
        'content-type': undefined,
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,solana-client',
        ...(host === undefined ? {} : { host }),
      },
    })
  const seen = await observe(access, nodes.evm, async () =>
    Promise.all([
      preflight(access.path),
      preflight(`/v1/rpc/${access.key}`, hostOf('alpha')),
      preflight('/alpha/v1/rpc/public'),
      preflight('/alpha/v1/rpc/no-such-key'),
    ]),
  )
  for (const { status, headers, text } of seen.value) {
    t.equal(status, 204)
    t.equal(text, '')
    t.equal(headers['access-control-allow-origin'], '*')
    t.match(headers['access-control-allow-methods'], /\bPOST\b/)
    const allowed = String(headers['access-control-allow-headers']).toLowerCase().split(/, */)
    t.ok(allowed.includes('content-type') && allowed.includes('solana-client'), allowed.join())
  }
  t.same(seen.sent, [])
  t.equal(seen.requests, 0)
})

const media: [name: string, headers: Record<string, string | undefined>, allowed: boolean][] = [
  ['plain', { 'content-type': 'application/json' }, true],
  ['a charset', { 'content-type': 'application/json; charset=utf-8' }, true],
  ['a charset without a space, in capitals', { 'content-type': 'Application/JSON;charset=UTF-8' }, true],
  ['a quoted charset', { 'content-type': 'application/json; charset="utf-8"' }, true],
  ['that of JSON-RPC over HTTP', { 'content-type': 'application/json-rpc' }, true],
  ['the older one', { 'content-type': 'application/jsonrequest; charset=utf-8' }, true],
  ['none', { 'content-type': undefined }, false],
  ['text', { 'content-type': 'text/plain' }, false],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, false],
  ['a longer type', { 'content-type': 'application/jsonp' }, false],
  ['another charset', { 'content-type': 'application/json; charset=latin1' }, false],
  ['gzip', { 'content-encoding': 'gzip' }, false],
]

for (const [name, headers, allowed] of media) {
  t.test(`media type: ${name}`, async t => {
    const seen = await observe(access, nodes.evm, () => access.post(body, { headers }))
    if (allowed) t.strictSame(JSON.parse(seen.value.text), { jsonrpc: '2.0', id: 1, result: 'ok' })
    else refused(t, seen.value, { reason: 'unsupported_media_type' })
    t.equal(seen.sent.length, allowed ? 1 : 0)
    t.equal(seen.requests, allowed ? 1 : 0)
  })
}

t.test('what goes upstream is our envelope and our headers, nothing of the client', async t => {
  const seen = await observe(access, nodes.evm, () =>
    access.post(
      '{"id":"client-id","extra":"client-extra","jsonrpc":"2.0","method":"eth_call","params": [ {} ]}',
      {
        headers: {
          authorization: 'Bearer client-secret',
          cookie: 'session=client-secret',
          origin: 'https://client-secret.example',
          referer: 'https://client-secret.example/x',
          'user-agent': 'client-secret/1',
          'x-forwarded-for': '203.0.113.7',
          'x-client': 'client-secret',
          'x-request-id': 'client-secret',
          traceparent: '00-11111111111111111111111111111111-1111111111111111-01',
        },
      },
    ),
  )
  t.equal(seen.value.status, 200)
  t.not(seen.value.headers['x-request-id'], 'client-secret')
  t.equal(seen.sent.length, 1)
  const [sent] = seen.sent
  const envelope = /^\{"jsonrpc":"2\.0","id":(\d+),"method":"eth_call","params":\[ \{\} \]\}$/.exec(
    sent!.text,
  )
  t.ok(envelope, `the envelope: ${sent!.text}`)
  t.ok(Number.isSafeInteger(Number(envelope?.[1])), 'a small integer of ours')
  t.equal(sent!.verb, 'POST')
  t.equal(sent!.url, '/v3/operator-secret?key=operator-secret-2')
  t.equal(sent!.headers['content-type'], 'application/json')
  t.equal(sent!.headers['content-length'], String(sent!.text.length))
  t.equal(sent!.headers['x-operator'], 'operator-secret-3')
  t.equal(sent!.headers.host, new URL(nodes.evm.url).host)
  const seenByNode = JSON.stringify(sent!.headers) + sent!.text + sent!.url
  for (const secret of ['client-', '203.0.113.7', access.key, '1111111111'])
    t.notOk(seenByNode.includes(secret), `the node does not see ${secret}`)
  const foreign = [
    'cookie',
    'authorization',
    'origin',
    'referer',
    'x-forwarded-for',
    'x-client',
    'traceparent',
  ]
  for (const name of foreign) t.equal(sent!.headers[name], undefined)
})

t.test('the client sees nothing of the upstream', async t => {
  const { host, port } = new URL(nodes.evm.url)
  const headers = {
    'x-node': 'node-secret',
    server: 'node-secret',
    'set-cookie': 'a=node-secret',
    via: 'node-secret',
  }
  const bodies = [
    (id: string) => `{"jsonrpc":"2.0","id":${id},"result":"fine"}`,
    (id: string) => `{"jsonrpc":"2.0","id":${id},"error":{"code":-32000,"message":"execution reverted"}}`,
  ]
  for (const nodeBody of bodies) {
    nodes.evm.on('web3_sha3', reply(200, nodeBody, headers))
    const { headers: shown, text } = await access.post(body)
    t.match(text, /"fine"|execution reverted/)
    const all = JSON.stringify(shown) + text
    for (const secret of ['node-secret', 'operator-secret', host, `:${port}`])
      t.notOk(all.includes(secret), `the client does not see ${secret}`)
  }
  nodes.evm.on('web3_sha3', result('"ok"'))
})

t.test('another allowed origin list names the origin instead of everybody', async t => {
  const own = await startBench(t, { cors: { origins: ['https://app.example'] } })
  const inside = await createAccess(own.gateway, 'paid', 'alpha')
  const from = async (origin: string) =>
    (await inside.post(body, { headers: { origin } })).headers['access-control-allow-origin']
  t.equal(await from('https://app.example'), 'https://app.example')
  t.equal(await from('https://evil.example'), undefined)
})

t.test('nothing secret is printed', t => {
  const printed = gateway.printed
  for (const secret of [access.key, 'operator-secret', 'client-secret', 'web3_sha3","params'])
    t.notOk(printed.includes(secret), `not printed: ${secret.slice(0, 8)}…`)
  t.end()
})
