import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { mintKey, mintToken } from '../../src/stores/sqlite/accounts/secrets/keys.ts'
import { Access, message } from '../support/access.ts'
import { run, runJson } from '../support/cli.ts'
import type { NetworkYaml, RouteYaml } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { serve, startGateway } from '../support/gateway.ts'
import { send, type HttpOptions, type HttpReply } from '../support/http.ts'
import * as replies from '../support/node-replies.ts'
import type { Handler } from '../support/node-replies.ts'
import { startSocketNode, type ScriptedSocketNode } from '../support/scripted-socket-node.ts'
import { askUpgrade, openClient } from '../support/socket-client.ts'
import { exchange } from '../support/tcp.ts'
import { until } from '../support/until.ts'
import {
  canaryUrl,
  credentials,
  filesBelow,
  found,
  holdsNone,
  routeCanaries,
  type Canaries,
} from './canaries.ts'

/** Everything a node can see of how it was asked, said back in its trouble. */
const echoed: Handler = (request, response) => {
  const said = JSON.stringify({ url: request.url, headers: request.headers })
  replies.reply(502, `<html>${said}</html>`, { 'x-asked': request.url, server: 'cnryupserver' })(
    request,
    response,
  )
}
const redirect: Handler = (request, response) =>
  replies.reply(307, request.url, { location: `http://127.0.0.1:1${request.url}` })(request, response)
const said =
  (status: number): Handler =>
  (request, response) =>
    replies.reply(status, `{"error":"no ${request.url}"}`, { 'retry-after': '1', 'x-asked': request.url })(
      request,
      response,
    )

/** What becomes of the calls of a network. */
const ailments: Readonly<Record<string, Handler>> = {
  fine: replies.result('"ok"'),
  echoed,
  redirect,
  unauthorized: said(401),
  forbidden: said(403),
  toomany: said(429),
  teapot: said(418),
  reset: replies.resetBeforeReply,
  cut: replies.resetMidBody,
  broken: replies.brokenJson,
  hang: replies.hang,
}
/** Networks whose upstream is not even there: the name is unknown, nobody speaks TLS, nobody listens. */
const absent = ['dns', 'tls', 'refused', 'wrongchain', 'sockets']

const nodes: Record<string, ScriptedSocketNode> = {}
const networks: Record<string, NetworkYaml> = {}
const routes: RouteYaml[] = []
for (const [i, slug] of [...Object.keys(ailments), ...absent].entries()) {
  const chainId = 3000 + i
  const node = await startSocketNode(t, { chainId: slug === 'wrongchain' ? 1 : chainId })
  node.otherwise(ailments[slug] ?? replies.result('"ok"'))
  node.refusesSockets = slug === 'sockets'
  nodes[slug] = node
  networks[slug] = { chainId, public: slug === 'fine' }
  const host =
    slug === 'dns' ? 'cnryuphost.invalid' : slug === 'refused' ? '127.0.0.1:1' : `127.0.0.1:${node.port}`
  routes.push({
    id: `${slug}-a`,
    network: slug,
    timeout: '300ms',
    capabilities: ['archive', 'debug'],
    http: slug === 'fine' ? '${FINE_URL}' : canaryUrl(slug === 'tls' ? 'https' : 'http', host, slug),
    ws: canaryUrl(slug === 'tls' ? 'wss' : 'ws', host, slug),
    headers: { 'X-Provider': `cnryup${slug}header` },
  })
}
const WEBHOOK = 'https://127.0.0.1:1/'
const tracing = {
  endpoint: 'http://cnryuptracer:cnryuptracepass@127.0.0.1:1/cnryuptracepath',
  headers: { Authorization: 'Bearer cnryuptracetoken' },
  sample: '100%',
  parent: 'any',
}
const SIGNS = `whsec_${'cnryupsigns'.padEnd(32, 'A')}`
const upstreamSecrets: Canaries = {
  'the webhook': 'cnryuphook',
  'what signs its messages': 'cnryupsigns',
  'the user of the collector': 'cnryuptracer',
  'the password of the collector': 'cnryuptracepass',
  'the path of the collector': 'cnryuptracepath',
  'a header for the collector': 'cnryuptracetoken',
  ...Object.assign({}, ...Object.keys(networks).map(routeCanaries)),
  'host of dns': 'cnryuphost',
  'what a node says of itself': 'cnryupserver',
  'what a finding in the YAML holds': 'cnryupslip',
}
const methods = `${fewMethods}    eth_call: { params: [1, 4] }
    eth_sendRawTransaction: { params: [1, 1], retry: dedupe }
    eth_getLogs: { params: [1, 1], block: { at: 0, kind: range }, maxRange: 10 }
    debug_traceCall: { params: [1, 3], tracers: [callTracer] }
    eth_subscribe: { needs: [ws], params: [1, 2], subscribe: eth_unsubscribe }
`
const masterKey = randomBytes(32).toString('base64')
const env = {
  TOLLGATE_MASTER_KEY: masterKey,
  FINE_URL: canaryUrl('http', `127.0.0.1:${nodes['fine']!.port}`, 'fine'),
}
const gateway = await startGateway(
  t,
  {
    networks,
    routes,
    methods,
    plans: { tight: { tiers: ['any'], rate: { perSecond: 1, burst: 100 }, maxBatch: 10 } },
    gateway: { log: { level: 'debug' }, alerts: { webhook: `${WEBHOOK}cnryuphook`, secret: SIGNS }, tracing },
  },
  { env },
)

const account = await runJson(
  gateway.dir,
  ['account', 'create', 'one', '--plan', 'paid', '--chain', 'fine'],
  env,
)
const tight = await runJson(
  gateway.dir,
  ['account', 'create', 'two', '--plan', 'tight', '--chain', 'fine'],
  env,
)
const api = await runJson(
  gateway.dir,
  ['token', 'create', '--scope', 'accounts:read,audit:read,keys:lookup'],
  env,
)
const access = new Access(
  gateway,
  'fine',
  account.endpoint.apiKey,
  account.endpoint.endpointId,
  account.accountId,
)
const hurried = new Access(gateway, 'fine', tight.endpoint.apiKey, tight.endpoint.endpointId, tight.accountId)
const byNetwork = new Map([['fine', access]])
for (const slug of Object.keys(networks)) if (slug !== 'fine') byNetwork.set(slug, await access.another(slug))

const rawTransaction = `0x02f86b${randomBytes(60).toString('hex')}`
/** What is whose client's: none of it may be written down or sent on, but for what a call asks. */
const keys: Canaries = {
  ...Object.fromEntries([...byNetwork].map(([slug, { key }]) => [`the key on ${slug}`, key])),
  'the key of a tight account': hurried.key,
  'a dashboard token': account.dashboardToken,
  'another dashboard token': tight.dashboardToken,
  'a token of the admin API': api.token,
  'a key that nobody has': mintKey(),
  'a token that nobody has': mintToken(),
  'a malformed key': 'tg_cnryclmalformed',
  'the master key': masterKey,
  'the bytes of the master key': Buffer.from(masterKey, 'base64').toString('hex'),
}
const clientSecrets: Canaries = {
  cookie: 'cnryclcookie',
  authorization: 'cnryclbearer',
  'user agent': 'cnryclagent',
  referer: 'cnryclreferer',
  'a header of the client': 'cnryclheader',
  'the query of the client': 'cnryclquery',
  'an id': 'cnryclid',
}
const asked: Canaries = {
  'a parameter': 'cnryclparam',
  'a raw transaction': rawTransaction.slice(2),
  'the name of an unknown method': 'cnryclmethod',
  'a broken body': 'cnryclbroken',
}
const everything = { ...upstreamSecrets, ...keys, ...clientSecrets, ...asked }
const headers = {
  cookie: 'session=cnryclcookie',
  authorization: 'Bearer cnryclbearer',
  'user-agent': 'cnryclagent/1',
  referer: 'https://cnryclreferer.test/x',
  'x-client': 'cnryclheader',
  'x-dashboard': account.dashboardToken,
  origin: 'https://cnryclheader.test',
}
const call = (method: string, params: unknown = ['cnryclparam']) => message(method, params, 'cnryclid')

/** Everything that clients got, with what may be in it; management may show the account's own keys. */
const toClients: string[] = []
async function ask(by: Access, body: string, options: HttpOptions = {}): Promise<HttpReply> {
  const reply = await by.post(body, { path: `${by.path}?token=cnryclquery`, headers, ...options })
  toClients.push(JSON.stringify(reply))
  return reply
}
/** Everything that operators got. */
const toOperators: string[] = []
async function admin(method: string, path: string, body = ''): Promise<HttpReply> {
  const headers = { authorization: `Bearer ${api.token}` }
  const reply = await send(Number(new URL(gateway.adminUrl).port), { method, path, body, headers })
  toOperators.push(JSON.stringify(reply))
  return reply
}
async function tell(...args: string[]): Promise<number | null> {
  const { stdout, stderr, code } = await run([...args, '--config', gateway.dir], env)
  toOperators.push(stdout, stderr)
  return code
}

t.test('calls that succeed', async t => {
  t.equal((await ask(access, call('web3_sha3'))).status, 200)
  t.equal(
    (await ask(access, `[${call('eth_call', [{ data: 'cnryclparam' }])},${call('eth_chainId', [])}]`)).status,
    200,
  )
  t.match((await ask(access, call('eth_sendRawTransaction', [rawTransaction]))).text, '"ok"')
  t.equal((await ask(access, call('web3_sha3').replace('"id":"cnryclid",', ''))).status, 204)
  t.match((await ask(new Access(gateway, 'fine', 'public'), call('web3_sha3'))).text, '"ok"')
  const client = await openClient(t, access, { headers })
  toClients.push(await client.exchange(call('web3_sha3')))
  const subscription = await client.subscribe('eth_subscribe', ['logs', { address: 'cnryclparam' }])
  nodes['fine']!.push('eth_subscribe', '{"data":"0x01"}')
  await client.notified(subscription, 1)
  await client.close()
  const [sent] = nodes['fine']!.calls
  t.equal(sent?.headers['x-provider'], 'cnryupfineheader', 'the canaries are planted')
  t.equal(sent?.url, '/cnryupfinepath/v2?k=cnryupfinequery')
  t.equal(sent?.headers.authorization, `Basic ${credentials('fine')}`)
})

t.test('calls that are refused', async () => {
  const bodies = [
    '{"cnryclbroken":',
    '["cnryclbroken"]',
    '"cnryclbroken"',
    '{"jsonrpc":"2.0","id":"cnryclid","method":["cnryclbroken"]}',
    call('cnryclmethod'),
    call('cnryclmethod'.repeat(20)),
    call('debug_setHead'),
    call('web3_sha3', ['cnryclparam', 'cnryclparam']),
    call('trace_block'),
    call('service_createEndpoint', [{ chain: 'cnryclparam' }]),
    call('service_nope'),
    call('service_updateEndpoint', [{ endpointId: 'cnryclparam', name: 'x' }]),
    call('service_usage', [{ cnryclparam: 1 }]),
    call('eth_getLogs', [{ fromBlock: 'cnryclparam', fromblock: 1 }]),
    call('debug_traceCall', [{}, 'latest', { tracer: 'cnryclparam' }]),
    `[${Array.from({ length: 101 }, () => call('web3_sha3')).join()}]`,
  ]
  for (const body of bodies) await ask(access, body)
  for (let i = 0; i < 3; i++)
    await ask(hurried, `[${Array.from({ length: 10 }, () => call('eth_getBlockReceipts')).join()}]`)
  const wrong = [
    'a key that nobody has',
    'a token that nobody has',
    'a malformed key',
    'a dashboard token',
    'the master key',
  ]
  for (const name of wrong) {
    const by = new Access(gateway, 'fine', encodeURIComponent(keys[name]!))
    await ask(by, call('web3_sha3'))
    toClients.push(JSON.stringify(await askUpgrade(gateway.port, by.path, headers)))
  }
  await ask(byNetwork.get('dns')!.on('fine'), call('web3_sha3'))
  await ask(access, call('web3_sha3'), { headers: { ...headers, 'content-type': 'text/cnryclheader' } })
  await ask(access, call('web3_sha3'), { method: 'DELETE' })
  await ask(access, '', {
    method: 'OPTIONS',
    headers: { ...headers, 'access-control-request-headers': 'x-asked' },
  })
  for (const path of [
    `/nowhere/v1/rpc/${access.key}`,
    `/fine/v2/rpc/${access.key}`,
    `//${access.key}`,
    `/%ff${access.key}`,
  ])
    await ask(access, call('web3_sha3'), { path })
  for (const bytes of [
    `BOGUS ${access.path} HTTP/1.1\r\n\r\n`,
    `GET ${access.path} HTTP/9.9\r\nX: cnryclheader\r\n\r\n`,
  ])
    toClients.push(await exchange(gateway.port, bytes))
})

t.test('upstreams in every kind of trouble', async t => {
  for (const [slug, by] of byNetwork) {
    if (slug === 'fine') continue
    for (const method of ['web3_sha3', 'eth_sendRawTransaction', 'eth_getBalance']) {
      const { text } = await ask(
        by,
        call(method, method === 'eth_getBalance' ? ['0x0', 'latest'] : [rawTransaction]),
      )
      if (!['sockets', 'teapot'].includes(slug))
        t.match(text, /"(no_route|upstream_error|upstream_timeout)"/, `${slug}: ${method}`)
    }
    toClients.push(JSON.stringify(await ask(by, `[${call('web3_sha3')},${call('web3_sha3')}]`)))
  }
  for (const slug of ['dns', 'tls', 'refused', 'sockets']) {
    const client = await openClient(t, byNetwork.get(slug)!, { headers })
    toClients.push(JSON.stringify(await client.call('eth_subscribe', ['newHeads'])))
    client.socket.terminate()
  }
  await until('the wrong chain is told', () => Promise.resolve(gateway.printed.includes('another chain')))
})

t.test('edits that are mistaken, and one that is not', async t => {
  const file = join(gateway.dir, 'routes.yaml')
  const good = await readFile(file, 'utf8')
  const changed = (change: (route: any) => void) => {
    const document = parse(good)
    change(document.routes[1])
    return stringify(document)
  }
  const slips = [
    `${good}  - id: x\n    http: https://cnryupslip/x\n    http: https://cnryupslip/y\n`,
    `${good}  - id: "x\n    http: https://cnryupslip/\n`,
    changed(route => (route.http = 'cnryupslip')),
    changed(route => (route.http = `\${file:${gateway.dir}/slip}`)),
    changed(route => (route.headers = { 'X-Provider': 'cnryupslip\ncnryupslip' })),
  ]
  await writeFile(join(gateway.dir, 'slip'), 'cnryupslip')
  for (const [i, slip] of slips.entries()) {
    await writeFile(file, slip)
    t.equal((await admin('POST', '/reload')).status, 422, `slip ${i}`)
    await admin('GET', '/status')
    if (i === 0) for (const json of [[], ['--json']]) await tell('check', ...json)
  }
  const { stdout, stderr, code } = await run(['serve', '--config', gateway.dir], env)
  t.equal(code, 1, 'a start with findings')
  toOperators.push(stdout, stderr)
  await writeFile(
    file,
    changed(route => (route.http = `${route.http}&cnryupslip`)),
  )
  t.equal((await admin('POST', '/reload')).status, 200)
  await writeFile(file, good)
  t.equal((await admin('POST', '/reload')).status, 200)
})

t.test('bug: a reload said to which webhook and secret the alerts were changed', async t => {
  const file = join(gateway.dir, 'gateway.yaml')
  const good = await readFile(file, 'utf8')
  for (const text of [
    good.replace('cnryuphook', 'cnryuphook/other').replace('cnryupsigns', 'cnryupsignsB'),
    stringify({ ...parse(good), alerts: {} }),
    good,
  ]) {
    await writeFile(file, text)
    // The watcher may have taken it before.
    t.equal((await admin('POST', '/reload')).status, 200)
    await tell('dump')
  }
  const times = () => gateway.printed.split('alerts.webhook changed').length - 1
  await until('each edit is logged', () => Promise.resolve(times() === 3))
})

t.test('everything that operators can ask', async t => {
  for (const path of [
    '/metrics',
    '/livez',
    '/readyz',
    '/status',
    '/process',
    '/served',
    '/',
    '/dump',
    `/${access.key}`,
    '/openapi.json',
    `/v1/accounts`,
    `/v1/accounts/${account.accountId}`,
    `/v1/accounts/${account.accountId}/endpoints`,
    `/v1/audit`,
    `/v1/accounts?cursor=${access.key}`,
  ])
    await admin('GET', path)
  const question = {
    network: 'dns',
    method: 'eth_getBalance',
    params: ['cnryclparam', 'latest'],
    plan: 'paid',
    details: true,
  }
  for (const network of ['dns', 'fine', 'hang', 'wrongchain', 'nowhere'])
    await admin('POST', '/explain', JSON.stringify({ ...question, network }))
  await admin('POST', '/explain', '{"cnryclbroken')
  await admin('POST', '/v1/keys:lookup', JSON.stringify({ key: access.key }))
  await admin('POST', '/v1/keys:lookup', '{"cnryclbroken')
  for (const args of [
    ['check'],
    ['dump'],
    ['account', 'list'],
    ['usage'],
    ['audit'],
    ['token', 'list'],
    ['find', access.key],
  ])
    t.equal(await tell(...args), 0, args.join(' '))
  for (const json of [[], ['--json']])
    t.equal(await tell('explain', 'echoed', 'eth_getBalance', '--plan', 'paid', ...json), 0)
})

t.test('starts that fail, a second process and a killed one', async t => {
  const others = [
    { ...env, TOLLGATE_MASTER_KEY: randomBytes(32).toString('base64') },
    { ...env, TOLLGATE_MASTER_KEY: `${masterKey.slice(0, -3)}cnryupslip` },
    env,
  ]
  for (const other of others) {
    const child = serve(gateway.dir, { ...other, PATH: process.env['PATH'] ?? '' })
    t.equal((await child.exited).code, 1)
    toOperators.push(child.stdout, child.stderr)
  }
  await ask(access, call('web3_sha3'))
  await gateway.kill9()
  const files = await filesBelow(join(gateway.dir, 'data'))
  t.ok(files.has('journal.db-wal'), [...files.keys()].join())
  for (const [name, bytes] of files) holdsNone(t, bytes, everything, `${name} after a kill`)
  await gateway.start()
  await ask(access, call('web3_sha3'))
})

t.test('what is printed holds none of it', async t => {
  const commandLine = await readFile(`/proc/${gateway.pid}/cmdline`).catch(() => Buffer.from(''))
  holdsNone(t, commandLine, everything, 'the list of processes')
  t.equal((await gateway.stop()).code, 0)
  t.match(gateway.printed, '"level":"debug"', 'it tells all it can')
  holdsNone(t, gateway.printed, everything, 'the log')
})

t.test('what operators are shown holds none of it', t => {
  // A path that is asked for and its 404 are the asker's own words.
  for (const text of toOperators) holdsNone(t, text, everything, text.slice(0, 60))
  t.end()
})

t.test('what is stored holds none of it', async t => {
  const files = await filesBelow(join(gateway.dir, 'data'))
  t.ok(files.has('accounts.db') && files.has('journal.db'), [...files.keys()].join())
  t.ok((files.get('accounts.db')?.length ?? 0) > 4096)
  for (const [name, bytes] of files) {
    holdsNone(t, bytes, everything, name)
    t.notOk(bytes.includes(Buffer.from(masterKey, 'base64')), `${name}: the master key`)
  }
})

t.test('what clients get holds no key and nothing of an upstream', t => {
  const { 'an id': own, ...rest } = clientSecrets
  t.ok(
    toClients.some(text => text.includes(own!)),
    'but their own ids',
  )
  for (const text of toClients)
    holdsNone(t, text, { ...upstreamSecrets, ...keys, ...rest }, text.slice(0, 80))
  t.end()
})

t.test('what upstreams get is the call and their own credentials', t => {
  for (const [slug, node] of Object.entries(nodes)) {
    const own = new Set(Object.keys(routeCanaries(slug)))
    const others = Object.fromEntries(Object.entries(upstreamSecrets).filter(([name]) => !own.has(name)))
    delete others['what a finding in the YAML holds']
    for (const { text, url, headers, params } of node.requests) {
      holdsNone(
        t,
        `${url} ${JSON.stringify(headers)} ${text}`,
        { ...others, ...keys, ...clientSecrets },
        `${slug}: ${params}`,
      )
      t.same(found(JSON.stringify(headers) + url, asked), [], 'what was asked is in the body')
    }
    for (const { headers, url } of node.upgrades)
      holdsNone(
        t,
        url + JSON.stringify(headers),
        { ...others, ...keys, ...clientSecrets, ...asked },
        `${slug}: upgrade`,
      )
    for (const { text } of node.socketRequests)
      holdsNone(t, text, { ...others, ...keys, ...clientSecrets }, `${slug}: frame`)
  }
  t.end()
})
