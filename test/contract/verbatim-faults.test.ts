import t from 'tap'
import { createAccesses } from '../support/accesses.ts'
import type { NetworkYaml, RouteYaml } from '../support/config-files.ts'
import { tellsNothing } from '../support/faults.ts'
import { startGateway } from '../support/gateway.ts'
import type { HttpReply } from '../support/http.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { startHttpNode, type HttpHandler, type ScriptedHttpNode } from '../support/scripted-http-node.ts'
import { until } from '../support/until.ts'

/** What is wrong with the route that is asked first, and what that means for a request. */
interface Fault {
  readonly handler: HttpHandler
  /** Told when no other route may be asked. */
  readonly refusal: readonly [status: number, reason: string] | 'cut' | 'own'
  /** Nothing was sent, so that a POST goes to the other route too. */
  readonly unsent?: true
  /** How often a GET asks the route. */
  readonly asked?: number
  /** How often where there is no other. */
  readonly alone?: number
}

/** What a server in trouble tells of itself. */
const told = { 'x-node': 'node-secret', server: 'node-secret', 'set-cookie': 'node-secret=1' }

function says(status: number, headers: Record<string, string> = {}): HttpHandler {
  return (_, response) => {
    response.writeHead(status, { ...told, ...headers }).end('node-secret is unwell')
  }
}

/** Writes bytes that are the server's own idea of HTTP, and maybe cuts. */
function raw(bytes: string, end: 'close' | 'reset' | 'keep'): HttpHandler {
  return (_, response) => {
    const { socket } = response
    socket?.write(bytes, () => {
      if (end === 'close') socket.end()
      else if (end === 'reset') socket.resetAndDestroy()
    })
  }
}

const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n'
const broken = [502, 'upstream_error'] as const
const faults: Readonly<Record<string, Fault>> = {
  refused: { handler: says(200), refusal: [503, 'no_route'], unsent: true, asked: 0 },
  'reset-before': { handler: raw('', 'reset'), refusal: broken, asked: 2 },
  'close-before': { handler: raw('', 'close'), refusal: broken, asked: 2 },
  'reset-head': { handler: raw('HTTP/1.1 200 OK\r\ncontent-ty', 'reset'), refusal: broken, asked: 2 },
  'close-head': { handler: raw('HTTP/1.1 200 OK\r\ncontent-ty', 'close'), refusal: broken, asked: 2 },
  garbage: { handler: raw('node-secret\r\n\r\n', 'close'), refusal: broken },
  'two-lengths': {
    handler: raw('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab', 'keep'),
    refusal: broken,
  },
  switching: {
    handler: raw('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', 'keep'),
    refusal: broken,
    asked: 2,
  },
  hang: { handler: () => undefined, refusal: [504, 'upstream_timeout'] },
  'http-301': { handler: says(301, { location: 'http://127.0.0.1:1/node-secret' }), refusal: broken },
  'http-307': { handler: says(307, { location: '/eth/v1/node/elsewhere' }), refusal: broken },
  'http-401': { handler: says(401, { 'www-authenticate': 'node-secret' }), refusal: [503, 'no_route'] },
  'http-403': { handler: says(403), refusal: [503, 'no_route'] },
  'http-408': { handler: says(408), refusal: broken },
  'http-429': { handler: says(429, { 'retry-after': '30' }), refusal: [503, 'no_route'] },
  'http-500': { handler: says(500), refusal: broken, alone: 2 },
  'http-501': { handler: says(501), refusal: broken },
  'http-503': { handler: says(503), refusal: broken, alone: 2 },
  'http-400': { handler: says(400), refusal: 'own' },
  'reset-mid-chunks': { handler: raw(chunked, 'reset'), refusal: 'cut' },
  'close-mid-chunks': { handler: raw(chunked, 'close'), refusal: 'cut' },
  'bad-chunks': { handler: raw(`${chunked}zz\r\n`, 'keep'), refusal: 'cut' },
  'close-mid-length': {
    handler: raw('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhello', 'close'),
    refusal: 'cut',
  },
}

const cost = 3
const methods = `notification: { cost: 1 }
families:
  http:
    "GET /eth/v1/node/*": { cost: ${cost} }
    "POST /eth/v1/node/*": { cost: ${cost} }
`

interface Case {
  readonly slug: string
  readonly fault: Fault
  readonly verb: 'GET' | 'POST'
  readonly routes: 1 | 2
  readonly bad: ScriptedHttpNode
}

const good = await startHttpNode(t)
good.otherwise((request, response) => {
  response.end(`good ${request.text}`)
})
const networks: Record<string, NetworkYaml> = {}
const routes: RouteYaml[] = []
const cases: Case[] = []
for (const [name, fault] of Object.entries(faults)) {
  const bad = await startHttpNode(t)
  bad.otherwise(fault.handler)
  for (const verb of ['GET', 'POST'] as const)
    for (const count of [1, 2] as const) {
      const slug = `${name}-${verb.toLowerCase()}-${count}`
      networks[slug] = { family: 'http', chainId: 'mainnet' }
      // Elsewhere it would only tell how busy the machine is.
      const timeout = name === 'hang' ? { timeout: '500ms' } : {}
      const http = name === 'refused' ? 'http://127.0.0.1:1' : bad.url
      routes.push({ id: `${slug}-bad`, network: slug, http, priority: 1, ...timeout })
      if (count === 2) routes.push({ id: `${slug}-good`, network: slug, http: good.url, priority: 2 })
      cases.push({ slug, fault, verb, routes: count, bad })
    }
}
// An environment in which http-proxy-3 would use an engine that follows redirects.
const env = { FORCE_FETCH_PATH: 'true' }
const gateway = await startGateway(t, { methods, networks, routes }, { env })
const accesses = await createAccesses(gateway, 'paid', Object.keys(networks))

interface Seen extends Case {
  /** Null when the connection ended without a whole reply. */
  readonly reply: HttpReply | null
}

async function make(each: Case): Promise<Seen> {
  const { slug, verb } = each
  const path = `${accesses.in(slug).path}/eth/v1/node/${slug}`
  const body = verb === 'POST' ? 'body' : ''
  const reply = await gateway.send({ method: verb, path, body }).catch(() => null)
  return { ...each, reply }
}

// All at once: each network has breakers and budgets of its own.
const seen = await Promise.all(cases.map(make))
const usage = await accesses.usage()
const ports = [good, ...cases.map(({ bad }) => bad)].map(({ port }) => port)

for (const { slug, fault, verb, routes, reply, bad } of seen) {
  const movesOn = routes === 2 && fault.refusal !== 'cut' && fault.refusal !== 'own'
  const isGood = movesOn && (verb === 'GET' || fault.unsent === true)
  const end = isGood ? 'good' : fault.refusal
  t.test(`${slug}: ${String(end)}`, async t => {
    if (end === 'cut') t.equal(reply, null, 'the client sees that it has not everything')
    else if (end === 'good')
      t.strictSame([reply?.status, reply?.text], [200, verb === 'POST' ? 'good body' : 'good '])
    else if (end === 'own') t.strictSame([reply?.status, reply?.text], [400, 'node-secret is unwell'])
    else {
      const { code, reason } = JSON.parse(reply?.text ?? '{}')
      t.strictSame([reply?.status, code, reason], [end[0], end[0], end[1]])
      tellsNothing(t, reply?.text ?? '', 'the reply', ports)
    }
    tellsNothing(t, JSON.stringify(reply?.headers ?? {}), 'the headers', ports)
    const path = `/eth/v1/node/${slug}`
    const most = (routes === 1 ? fault.alone : undefined) ?? fault.asked ?? 1
    t.equal(bad.asked(path).length, verb === 'POST' ? Math.min(1, most) : most, 'asked of the faulty route')
    t.equal(good.asked(path).length, isGood ? 1 : 0, 'asked of the good route')
    const isPaid = end === 'good' || end === 'own' || end === 'cut'
    t.same(usage.get(slug), isPaid ? { requests: cost, calls: 1 } : { requests: 0, calls: 0 })
    const outcome = end === 'good' ? 'ok' : end === 'own' ? 'error' : end === 'cut' ? 'failed' : 'refused'
    const labels = { network: slug, method: `${verb} /eth/v1/node/*` }
    t.equal(await metric(gateway, 'tollgate_calls_total', labels), 1, 'one observation')
    t.equal(await metric(gateway, 'tollgate_calls_total', { ...labels, outcome }), 1, outcome)
  })
}

t.test('nothing follows a redirect, nothing hangs open, nothing is in flight', async t => {
  t.equal(good.asked('/eth/v1/node/elsewhere').length, 0)
  await until('only idle connections are left, and not for long', async () => {
    const counts = await Promise.all([good, ...cases.map(({ bad }) => bad)].map(node => node.connections()))
    return counts.every(count => count === 0)
  })
  // Our own questions come and go.
  await metricIs(gateway, 'tollgate_route_in_flight', {}, 0)
  tellsNothing(t, gateway.printed, 'the log', ports)
})
