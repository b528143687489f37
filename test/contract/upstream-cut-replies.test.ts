import { once } from 'node:events'
import { request, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { message, type Access } from '../support/access.ts'
import { createAccesses } from '../support/accesses.ts'
import type { RouteYaml } from '../support/config-files.ts'
import { openStream } from '../support/event-stream.ts'
import { startGateway } from '../support/gateway.ts'
import { LogReader } from '../support/log-lines.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { result } from '../support/node-replies.ts'
import { routesOf } from '../support/route-status.ts'
import { startHttpNode, type HttpHandler } from '../support/scripted-http-node.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

/** More than is held back of a reply, and than sockets on the way take in. */
const long = 'a'.repeat(400_000)
const endless = 'a'.repeat(16 * 2 ** 20)

/** How a node ends a reply whose head and first part it has sent. */
type Ending = 'reset' | 'short' | 'malformed' | 'whole' | 'open'

/** Replies to be reset once their client has a part of them: a reset overtakes what is still on its way. */
const toReset: ServerResponse[] = []

function finish(response: ServerResponse, ending: Ending): void {
  if (ending === 'reset') toReset.push(response)
  else if (ending === 'short') response.socket?.end()
  else if (ending !== 'open') response.end()
}

/** A reply of the HTTP API. */
function httpReply(ending: Ending): HttpHandler {
  return async (_, response) => {
    response.writeHead(200, { 'content-length': String(long.length + (ending === 'whole' ? 0 : 100)) })
    await new Promise(resolve => response.write(long, resolve))
    finish(response, ending)
  }
}

/** A JSON-RPC reply too long to be held back. */
function rpcReply(ending: Ending) {
  return async ({ id }: { readonly id: string }, response: ServerResponse): Promise<void> => {
    const body = `{"jsonrpc":"2.0","id":${id},"result":"${long}"`
    const whole = ending === 'malformed' ? `${body},"id":7}` : `${body}}`
    const length = Buffer.byteLength(whole) + (ending === 'whole' || ending === 'malformed' ? 0 : 100)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(length) })
    await new Promise(resolve => response.write(whole, resolve))
    finish(response, ending)
  }
}

const methods = `notification: { cost: 1 }
families:
  http:
    "GET /eth/v1/node/*": { enabled: false }
    "GET /eth/v1/beacon/genesis": { enabled: false }
    "GET /plain/*": { cost: 3 }
  evm:
    web3_sha3: { cost: 3, retry: safe }
    eth_blockNumber: {}
`
const endings = { reset: 'reset', short: 'reset', malformed: 'bad_reply' } as const
const http = ['reset', 'short', 'events', 'left', 'slow', 'drain'].map(name => `http-${name}`)
const rpc = ['reset', 'short', 'malformed', 'left', 'slow'].map(name => `rpc-${name}`)

const [goodHttp, goodRpc] = [await startHttpNode(t), await startNode(t, { chainId: 1001 })]
goodHttp.otherwise((_, response) => {
  response.end('good')
})
goodRpc.on('web3_sha3', result('"good"'))
const httpNodes = new Map(await Promise.all(http.map(async slug => [slug, await startHttpNode(t)] as const)))
const rpcNodes = new Map(
  await Promise.all(rpc.map(async slug => [slug, await startNode(t, { chainId: 1001 })] as const)),
)
const routes: RouteYaml[] = [
  ...http.map(slug => ({ id: `${slug}-a`, network: slug, http: httpNodes.get(slug)!.url })),
  ...http.map(slug => ({ id: `${slug}-b`, network: slug, http: goodHttp.url, priority: 2 })),
  ...rpc.map(slug => ({ id: `${slug}-a`, network: slug, http: rpcNodes.get(slug)!.url })),
  ...rpc.map(slug => ({ id: `${slug}-b`, network: slug, http: goodRpc.url, priority: 2 })),
]
const gateway = await startGateway(t, {
  methods,
  networks: {
    ...Object.fromEntries(http.map(slug => [slug, { family: 'http' as const, chainId: 'x' }])),
    ...Object.fromEntries(rpc.map(slug => [slug, { chainId: 1001 }])),
  },
  routes,
  gateway: { timeouts: { drain: '1s' } },
})
const log = new LogReader(gateway)
const accesses = await createAccesses(gateway, 'paid', [...http, ...rpc])

const isRpc = (slug: string): boolean => slug.startsWith('rpc')

/** Makes a call and gives the text of its reply; `cut` where the client cannot take it for whole. */
async function call(slug: string): Promise<string> {
  const { reply } = await begin(slug)
  let text = ''
  reply.on('data', (chunk: Buffer) => {
    text += chunk.toString()
    for (const response of toReset.splice(0)) response.socket?.resetAndDestroy()
  })
  await closed(reply)
  return reply.complete ? text : 'cut'
}

/** Resolves when a reply is over, whole or not. */
async function closed(reply: IncomingMessage): Promise<void> {
  await new Promise<void>(resolve => reply.on('close', () => resolve()))
}

/** Begins a call by hand: the reply stands at its head. */
async function begin(slug: string): Promise<{ sent: ClientRequest; reply: IncomingMessage }> {
  const access = accesses.in(slug)
  const sent = request({
    host: '127.0.0.1',
    port: gateway.port,
    agent: false,
    method: isRpc(slug) ? 'POST' : 'GET',
    path: isRpc(slug) ? access.path : `${access.path}/plain/x`,
    headers: { 'content-type': 'application/json' },
  })
  sent.on('error', () => undefined)
  sent.end(isRpc(slug) ? message('web3_sha3', ['0x00']) : undefined)
  const [reply] = (await once(sent, 'response')) as [IncomingMessage]
  reply.on('error', () => undefined)
  return { sent, reply }
}

/** What the route's own metric says of its attempts. */
async function attempts(slug: string, result: string): Promise<number> {
  return metric(gateway, 'tollgate_attempts_total', { route: `${slug}-a`, result })
}

async function routeOf(slug: string) {
  return (await routesOf(gateway)).find(({ id }) => id === `${slug}-a`)!
}

interface Usage {
  readonly calls: number
  readonly requests: number
  readonly errors: number
}

/** Calls, charges and errors of an endpoint, as far as they have been written. */
async function usageOf(access: Access): Promise<Usage> {
  const { rows } = (await access.managed('service_usage', [
    { by: 'day', endpointId: access.endpointId },
  ])) as { readonly rows: readonly Usage[] }
  const sum = { calls: 0, requests: 0, errors: 0 }
  for (const row of rows) {
    sum.calls += row.calls
    sum.requests += row.requests
    sum.errors += row.errors
  }
  return sum
}

for (const slug of ['http-reset', 'http-short', 'rpc-reset', 'rpc-short', 'rpc-malformed'])
  t.test(`${slug}: a route that breaks off every body is left alone`, async t => {
    const ending = slug.split('-')[1] as keyof typeof endings
    const how = endings[ending]
    if (isRpc(slug)) rpcNodes.get(slug)!.on('web3_sha3', rpcReply(ending))
    else httpNodes.get(slug)!.otherwise(httpReply(ending))
    const first = [await call(slug), await call(slug), await call(slug)]
    t.strictSame(first, ['cut', 'cut', 'cut'])
    const later: string[] = []
    for (let n = 0; n < 20; n++) later.push(await call(slug))
    const cut = 3 + later.filter(text => text === 'cut').length
    // A look at the route that comes by just now lets one call try it again.
    t.ok(cut <= 5, `${cut} of 23 were cut`)
    t.equal(later.filter(text => text.includes('good')).length, 23 - cut, 'the other route answers')
    t.match(await routeOf(slug), { lastError: how })
    t.strictSame([await attempts(slug, how), await attempts(slug, 'ok')], [cut, 0])
    t.equal(await metric(gateway, 'tollgate_attempts_total', { route: `${slug}-b`, result: 'ok' }), 23 - cut)
    const lines = log
      .all()
      .filter(({ msg, route, result }) => msg === 'attempt failed' && route === `${slug}-a` && result === how)
    t.equal(lines.length, cut)
    t.ok(lines.every(({ level }) => level === 'warn'))
    await until('the usage counts each as an error, and charges all', async () => {
      const usage = await usageOf(accesses.in(slug))
      return usage.errors === cut && usage.calls === 23 && usage.requests === 69
    })
  })

for (const slug of ['http-left', 'rpc-left'])
  t.test(`${slug}: a client that leaves speaks against no route, and lets go of it`, async t => {
    if (isRpc(slug)) rpcNodes.get(slug)!.on('web3_sha3', rpcReply('open'))
    else httpNodes.get(slug)!.otherwise(httpReply('open'))
    for (let n = 1; n <= 6; n++) {
      const { sent } = await begin(slug)
      sent.destroy()
      await metricIs(gateway, 'tollgate_attempts_total', { route: `${slug}-a`, result: 'aborted' }, n)
    }
    await metricIs(gateway, 'tollgate_route_in_flight', { route: `${slug}-a` }, 0)
    const { healthy, lastError } = await routeOf(slug)
    t.strictSame([healthy, lastError], [true, undefined])
    t.notOk(log.all().some(({ msg, route }) => msg === 'attempt failed' && route === `${slug}-a`))
    if (isRpc(slug)) rpcNodes.get(slug)!.on('web3_sha3', rpcReply('whole'))
    else httpNodes.get(slug)!.otherwise(httpReply('whole'))
    t.ok((await call(slug)).length >= long.length, 'and it still gets calls')
    t.equal((await usageOf(accesses.in(slug))).errors, 0)
  })

for (const slug of ['http-slow', 'rpc-slow'])
  t.test(`${slug}: a node that loses patience with a slow client has no fault`, async t => {
    const cuts: (() => void)[] = []
    const held = (response: ServerResponse, opening: string): void => {
      response.writeHead(200, { 'content-length': String(opening.length + endless.length + 100) })
      response.write(opening)
      response.write(endless)
      cuts.push(() => response.socket?.resetAndDestroy())
    }
    if (isRpc(slug))
      rpcNodes.get(slug)!.on('web3_sha3', ({ id }, response) => {
        held(response, `{"jsonrpc":"2.0","id":${id},"result":"`)
      })
    else
      httpNodes.get(slug)!.otherwise((_, response) => {
        held(response, '')
      })
    const replies = await Promise.all(Array.from({ length: 4 }, () => begin(slug)))
    await pause(2_000) // twice the patience that a client gets
    for (const cut of cuts) cut()
    await Promise.all(replies.map(({ reply }) => closed(reply.resume())))
    await metricIs(gateway, 'tollgate_attempts_total', { route: `${slug}-a`, result: 'aborted' }, 4)
    const { healthy, lastError } = await routeOf(slug)
    t.strictSame([healthy, lastError], [true, undefined])
  })

t.test('an event stream is well however it ends cleanly, and a fault where it breaks', async t => {
  const slug = 'http-events'
  const open: ServerResponse[] = []
  httpNodes.get(slug)!.otherwise((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': hello\n\n')
    open.push(response)
  })
  const stream = async () => {
    const opened = await openStream(t, accesses.in(slug), '/plain/x')
    await opened.has('hello')
    return opened
  }
  for (let n = 0; n < 4; n++) {
    const opened = await stream()
    open.at(-1)!.end()
    t.equal(await opened.ended, 'end')
  }
  for (let n = 0; n < 4; n++) (await stream()).leave()
  await metricIs(gateway, 'tollgate_attempts_total', { route: `${slug}-a`, result: 'ok' }, 8)
  t.equal((await routeOf(slug)).lastError, undefined)
  for (let n = 0; n < 3; n++) {
    const opened = await stream()
    open.at(-1)!.socket?.resetAndDestroy()
    t.equal(await opened.ended, 'cut')
  }
  t.equal(await attempts(slug, 'reset'), 3)
  t.match(await routeOf(slug), { lastError: 'reset' })
  t.equal(await call(slug), 'good')
})

t.test('what a drain cuts is no fault of the route', async t => {
  const slug = 'http-drain'
  httpNodes.get(slug)!.otherwise(httpReply('open'))
  const replies = await Promise.all(Array.from({ length: 4 }, () => begin(slug)))
  const over = replies.map(({ reply }) => closed(reply.resume()))
  await gateway.stop()
  await Promise.all(over)
  t.notOk(log.all().some(({ msg, route }) => msg === 'attempt failed' && route === `${slug}-a`))
})
