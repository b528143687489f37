import t from 'tap'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { loadAssets } from '../../src/http/dashboard/asset.ts'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import type { HttpOptions } from '../support/http.ts'
import { root } from '../support/paths.ts'
import { refused } from '../support/refusals.ts'
import { startNode } from '../support/scripted-node.ts'
import { snapshotOf } from '../support/snapshot.ts'

const node = await startNode(t, { chainId: 1001 })
// The base host is both the dashboard's and, in the path form, every network's.
const gateway = await startGateway(t, {
  baseUrl: 'http://127.0.0.1:8080/{slug}',
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
})
const access = await createAccess(gateway, 'paid', 'alpha')
const get = (path: string, options: HttpOptions = {}) =>
  gateway.send({
    method: 'GET',
    path,
    ...options,
    headers: { 'content-type': undefined, ...options.headers },
  })
const gzip = { headers: { 'accept-encoding': 'br, gzip;q=0.8' } }

const page = await get('/')
const assets = [...page.text.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path!)

t.test('every reply carries what keeps a browser safe', async t => {
  const csp =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
  const replies = [page, await get(assets[0]!), await get('/api/session'), await get('/api/rpc')]
  for (const { headers } of replies)
    t.match(headers, {
      'content-security-policy': csp,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'access-control-allow-origin': undefined,
    })
  t.notMatch(page.text, /<style|style=|<script>|\son\w+=/, 'nothing inline')
})

t.test('assets have hashed names and stay in the cache, the page is asked for again', async t => {
  t.equal(page.status, 200)
  t.equal(page.headers['content-type'], 'text/html; charset=utf-8')
  t.equal(page.headers['cache-control'], 'no-cache')
  t.equal(assets.length, 3)
  for (const path of assets) {
    t.match(path, /^\/assets\/(main|style|icon)-[A-Z0-9]{8}\.(js|css|svg)$/)
    const reply = await get(path)
    t.equal(reply.status, 200)
    t.equal(reply.headers['cache-control'], 'public, max-age=31536000, immutable')
    const cached = await get(path, { headers: { 'if-none-match': reply.headers.etag } })
    t.equal(cached.status, 304)
    t.equal(cached.bytes.length, 0)
    const packed = await get(path, gzip)
    t.equal(packed.headers['content-encoding'], 'gzip')
    t.equal(packed.headers.vary, 'Accept-Encoding')
    t.ok(gunzipSync(packed.bytes).equals(reply.bytes), `${path} unpacks to itself`)
  }
  const never = await get('/', { headers: { 'accept-encoding': 'gzip;q=0' } })
  t.equal(never.headers['content-encoding'], undefined)
})

t.test('the first load is under 60 kB, whichever page it is', t => {
  const built = [...loadAssets(join(root, 'dist/dashboard'))]
  const bytes = (names: RegExp) =>
    built.filter(([path]) => names.test(path)).reduce((sum, [, { gzip }]) => sum + gzip!.length, 0)
  const [first, all] = [bytes(/^\/$|main|style|icon|chunk/), bytes(/./)]
  t.comment(`first load ${first} bytes, ${all - first} more for the plots`)
  t.ok(first > 10_000 && first < 60_000, `${first} bytes without the plots`)
  t.ok(all - first < 26_000, `${all - first} bytes more where there are plots`)
  for (const [path, { gzip }] of built) t.ok(gzip, `${path} is compressed beforehand`)
  t.end()
})

t.test('HEAD is GET without a body, other verbs are not allowed', async t => {
  for (const path of ['/', assets[0]!, '/api/session']) {
    const [head, whole] = [await get(path, { method: 'HEAD' }), await get(path)]
    t.equal(head.status, 200)
    t.equal(head.bytes.length, 0)
    t.equal(head.headers['content-length'], whole.headers['content-length'])
    t.equal(head.headers['content-type'], whole.headers['content-type'])
  }
  const cases: [string, string, string][] = [
    ['POST', '/', 'GET, HEAD'],
    ['OPTIONS', '/', 'GET, HEAD'],
    ['PUT', '/api/session', 'GET, HEAD, POST, DELETE'],
    ['OPTIONS', '/api/session', 'GET, HEAD, POST, DELETE'],
    ['GET', '/api/token', 'POST'],
    ['GET', '/api/rpc', 'POST'],
    ['OPTIONS', '/api/rpc', 'POST'],
  ]
  for (const [method, path, allow] of cases) {
    const reply = await get(path, { method })
    t.equal(reply.status, 405, `${method} ${path}`)
    t.equal(reply.headers.allow, allow)
    t.equal(JSON.parse(reply.text).error.data.reason, 'method_not_allowed')
  }
})

t.test('the RPC contract is not shadowed on the host of the dashboard', async t => {
  const reply = await access.post(message('web3_sha3', ['0x00']))
  t.equal(reply.status, 200)
  t.equal(JSON.parse(reply.text).result, 'ok')
  t.equal(reply.headers['content-security-policy'], undefined)
  refused(t, await gateway.send({ path: '/alpha/v1/rpc/tg_nonsense', body: '{}' }), { reason: 'invalid_key' })
  refused(t, await get(`/alpha/v1/rpc/${access.key}`), { reason: 'method_not_allowed' })
  for (const path of ['/v1/rpc/x', '/nope', '/index.html', '/assets/', '/assets/../index.html', '/api', '//'])
    refused(t, await gateway.send({ path, body: '{}' }), { reason: 'not_found' })
  const elsewhere = { headers: { host: 'nowhere.example.test' } }
  refused(t, await get('/', elsewhere), { reason: 'not_found' })
  refused(t, await get('/api/session', elsewhere), { reason: 'not_found' })
})

t.test('no network can have the name of a path of the dashboard', async t => {
  const built = loadAssets(join(root, 'dist/dashboard'))
  const served = [...built.keys(), '/api/session', '/api/token', '/api/rpc'].map(path => path.split('/')[1]!)
  for (const slug of new Set(served.filter(name => name !== ''))) {
    const networks = `baseUrl: http://127.0.0.1:8080/{slug}
networks: { ${slug}: { name: X, family: evm, chainId: 1 } }`
    const routes = `routes: [{ id: a, network: ${slug}, http: "http://127.0.0.1:1" }]`
    await t.rejects(snapshotOf(t, { networks, routes }), slug)
  }
})

t.test('the program holds no secret and no address of another host', t => {
  for (const [path, { body }] of loadAssets(join(root, 'dist/dashboard')))
    if (path.endsWith('.js'))
      t.notMatch(body.toString(), /sourceMappingURL|https:\/\/(?!(app|hooks)\.example)/, path)
  t.match(readFileSync(join(root, 'package.json'), 'utf8'), /"esbuild": true/, 'its install script may run')
  t.end()
})
