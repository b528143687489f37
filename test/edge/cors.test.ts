import t from 'tap'
import { message, type Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import type { HttpOptions } from '../support/http.ts'
import { startNode } from '../support/scripted-node.ts'

/** What a browser must be told so that a page may read the answers, the refusals among them. */
const node = await startNode(t, { chainId: 1001 })
const app = 'https://app.example'
const body = message('web3_sha3', ['0x00'])
const start = async (cors: object) => {
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    methods: fewMethods,
    gateway: { cors, limits: { body: '64KiB' } },
  })
  return createAccess(gateway, 'paid', 'alpha')
}

const exposed = [
  'x-request-id',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'retry-after',
]

/** One request for each way of being answered. */
const ways: Record<string, [status: number, body: string, options?: HttpOptions]> = {
  'an answer': [200, body],
  'a silent answer': [204, '{"jsonrpc":"2.0","method":"web3_sha3","params":["0x00"]}'],
  'a refusal of the call': [200, message('eth_nothing')],
  'a body that is no JSON': [400, '{'],
  'a bad key': [401, body, { path: '/alpha/v1/rpc/nonsense' }],
  'another path': [404, body, { path: '/nowhere' }],
  'another verb': [405, '', { method: 'PUT' }],
  'a body too large': [413, 'a'.repeat(70_000)],
  'another media type': [415, body, { headers: { 'content-type': 'text/plain' } }],
  'another expectation': [417, body, { headers: { expect: 'nothing' } }],
  'too many header lines': [
    431,
    body,
    { headers: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`x-${i}`, 'a'])) },
  ],
}

const ask = async (
  access: Access,
  [status, text, options = {}]: (typeof ways)[string],
  origin: string | undefined,
) => {
  const reply = await access.post(text, { ...options, headers: { ...options.headers, origin } })
  if (reply.status !== status) throw new Error(`${reply.status} instead of ${status}: ${reply.text}`)
  return reply.headers
}

const preflight = async (access: Access, origin: string, requested?: string) =>
  access.post('', {
    method: 'OPTIONS',
    headers: {
      'content-type': undefined,
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': requested,
    },
  })

t.test('to everybody: no list of origins, and never credentials', async t => {
  const access = await start({})
  for (const [name, way] of Object.entries(ways)) {
    const headers = await ask(access, way, app)
    t.equal(headers['access-control-allow-origin'], '*', name)
    t.notHas(headers, 'access-control-allow-credentials', name)
    const told = String(headers['access-control-expose-headers']).toLowerCase().split(/, */)
    for (const header of exposed) t.ok(told.includes(header), `${name} exposes ${header}`)
  }
  const { status, headers } = await preflight(access, app, 'content-type,solana-client,x-odd')
  t.equal(status, 204)
  t.equal(headers['access-control-allow-origin'], '*')
  t.equal(headers['access-control-allow-headers'], 'content-type,solana-client,x-odd')
  t.match(headers['access-control-allow-methods'], /\bPOST\b/)
  t.ok(Number(headers['access-control-max-age']) >= 600)
  t.notHas(headers, 'access-control-allow-credentials')
  const { headers: plain } = await preflight(access, app)
  t.match(plain['access-control-allow-headers'], /content-type/)
})

t.test('to a list of origins: each is told its own name, others nothing, and caches are warned', async t => {
  const second = 'http://localhost:5173'
  const access = await start({ origins: [app, second] })
  for (const [name, way] of Object.entries(ways)) {
    for (const origin of [app, second]) {
      const headers = await ask(access, way, origin)
      t.equal(headers['access-control-allow-origin'], origin, name)
      t.match(headers.vary, /\bOrigin\b/i, name)
      t.ok(headers['access-control-expose-headers'], name)
      t.notHas(headers, 'access-control-allow-credentials', name)
    }
    const strangers = [
      'https://evil.example',
      `${app}.evil.example`,
      `${app}:8443`,
      'http://app.example',
      'null',
      '*',
    ]
    for (const origin of name === 'an answer' || name === 'a bad key' ? strangers : [strangers[0]]) {
      const headers = await ask(access, way, origin)
      t.notHas(headers, 'access-control-allow-origin', `${name} to ${String(origin)}`)
      t.match(headers.vary, /\bOrigin\b/i, name)
    }
  }
  t.notHas(await ask(access, ways['an answer']!, undefined), 'access-control-allow-origin')
  const { headers } = await preflight(access, app, 'content-type')
  t.equal(headers['access-control-allow-origin'], app)
  t.match(headers.vary, /\bOrigin\b/i)
  t.notHas(
    (await preflight(access, 'https://evil.example', 'content-type')).headers,
    'access-control-allow-origin',
  )
})

t.test('"*" in a list is everybody, and still no credentials', async t => {
  const access = await start({ origins: [app, '*'] })
  const headers = await ask(access, ways['an answer']!, 'https://evil.example')
  t.equal(headers['access-control-allow-origin'], '*')
  t.notHas(headers, 'access-control-allow-credentials')
})
