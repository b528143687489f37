import t from 'tap'
import { message } from '../support/access.ts'
import { createAccesses } from '../support/accesses.ts'
import type { NetworkYaml, RouteYaml } from '../support/config-files.ts'
import { failures, fault, tellsNothing } from '../support/faults.ts'
import { startGateway } from '../support/gateway.ts'
import type { HttpReply } from '../support/http.ts'
import { metric } from '../support/metrics.ts'
import { result, type Handler } from '../support/node-replies.ts'
import { rawMember } from '../support/raw-json.ts'
import { refused, type Reason } from '../support/refusals.ts'
import { startNode, type ScriptedNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

/** `good`: the other route's answer; `own`: the faulty route's; else the refusals that may be told. */
type End = 'good' | 'own' | readonly Reason[]

/** One thing that is wrong with the route that is asked first. */
interface Fault {
  readonly handler: Handler
  /** How a call of each class ends; a class that is left out does not meet this fault. */
  readonly ends: { readonly safe: End; readonly dedupe?: End; readonly never: End }
  /** How often the faulty node may be asked for one call that may be repeated. */
  readonly asked?: readonly [least: number, most: number]
  /** The fault is silence: the route's own timeout ends it. */
  readonly silent?: true
  /** The next call keeps away from the route. */
  readonly coolsDown?: true
  /** The block that the call reads; default `latest`. */
  readonly block?: string
  readonly chainId?: number
  /** Blocks behind the other route. */
  readonly behind?: number
  /** Nothing listens where the route leads. */
  readonly down?: true
}

const chainId = 1001
const head = 0x10_000
const broken: readonly Reason[] = ['upstream_error']
const atLimit: readonly Reason[] = ['upstream_error', 'no_route', 'overloaded']

/** A fault that another route makes good, unless the call may not be repeated. */
function elsewhere(name: string, never: End, more: Partial<Fault> = {}): Fault {
  return { handler: failures[name]!, ends: { safe: 'good', dedupe: 'good', never }, ...more }
}

/** A connection that breaks may have been a stale one: the same route may be asked a second time. */
const twice = { asked: [1, 2] } as const
const silent = { silent: true } as const
const coolsDown = { coolsDown: true } as const

const faults: Readonly<Record<string, Fault>> = {
  refused: { ...elsewhere('empty', 'good'), down: true, asked: [0, 0] },
  'reset-before': elsewhere('reset-before', broken, twice),
  'reset-mid': elsewhere('reset-mid', broken, twice),
  'cut-close': elsewhere('cut-close', broken, twice),
  hang: elsewhere('hang', ['upstream_timeout'], silent),
  drip: elsewhere('drip', ['upstream_timeout'], silent),
  page: elsewhere('page', broken),
  empty: elsewhere('empty', broken),
  'http-401': elsewhere('http-401', ['upstream_error', 'no_route']),
  'http-403': elsewhere('http-403', ['upstream_error', 'no_route']),
  'http-408': elsewhere('http-408', ['upstream_error', 'upstream_timeout']),
  'http-429': elsewhere('http-429', atLimit, coolsDown),
  'http-429-later': elsewhere('http-429-later', atLimit, coolsDown),
  'http-500': elsewhere('http-500', broken),
  'http-502': elsewhere('http-502', broken),
  'http-503': elsewhere('http-503', broken),
  'limit-32005': elsewhere('limit-32005', atLimit, coolsDown),
  'limit-429': elsewhere('limit-429', atLimit, coolsDown),
  'wrong-id': elsewhere('wrong-id', broken),
  unsupported: {
    handler: fault(-32601, 'the method does not exist'),
    ends: { safe: 'good', dedupe: 'good', never: 'own' },
  },
  internal: {
    handler: fault(-32603, 'internal error'),
    ends: { safe: 'good', dedupe: 'good', never: 'own' },
  },
  reverted: {
    handler: fault(3, 'execution reverted'),
    ends: { safe: 'own', dedupe: 'own', never: 'own' },
  },
  'http-400': {
    handler: fault(-32000, 'insufficient funds', 400),
    ends: { safe: 'own', dedupe: 'own', never: 'own' },
  },
  'wrong-chain': {
    handler: result('"of another chain"'),
    ends: { safe: 'good', dedupe: 'good', never: 'good' },
    asked: [0, 0],
    chainId: 1002,
  },
  lagging: {
    handler: result('"old"'),
    ends: { safe: 'good', never: 'good' },
    asked: [0, 0],
    behind: 1000,
  },
  'lagging-old-read': {
    handler: result('"as good as any"'),
    ends: { safe: 'own', never: 'own' },
    block: `0x${(head - 1050).toString(16)}`,
    behind: 1000,
  },
  'pruned-text': {
    handler: fault(-32000, 'missing trie node 0123 (path ) state 0x0123 is not available'),
    ends: { safe: 'good', never: 'own' },
    block: `0x${'12'.repeat(32)}`,
  },
  'pruned-wrong': {
    handler: result('"0x0"'),
    ends: { safe: 'good', never: 'good' },
    asked: [0, 0],
    block: '0x1',
  },
  'null-behind': { handler: result('null'), ends: { safe: 'good', never: 'own' }, behind: 1 },
  'null-level': { handler: result('null'), ends: { safe: 'own', never: 'own' } },
}

const cost = 3
const block = { at: 0, kind: 'ref' }
/** Reads of state, so that the age of their block matters; on one network also of what an old head does not know. */
const rules = {
  test_safe: { cost, retry: 'safe', params: [1, 1], block },
  test_never: { cost, retry: 'never', params: [1, 1], block },
  eth_sendRawTransaction: { cost },
}
const methods = { safe: 'test_safe', dedupe: 'eth_sendRawTransaction', never: 'test_never' }
type Class = keyof typeof methods

interface Case {
  readonly slug: string
  readonly fault: Fault
  readonly retry: Class
  readonly end: End
  readonly bad: ScriptedNode
}

const good = await startNode(t, { chainId, head })
good.otherwise(result('"good"'))
const networks: Record<string, NetworkYaml> = {}
const routes: RouteYaml[] = []
const cases: Case[] = []
for (const [name, fault] of Object.entries(faults)) {
  const bad = await startNode(t, { chainId: fault.chainId ?? chainId, head: head - (fault.behind ?? 0) })
  bad.otherwise(fault.handler)
  const laid = {
    ...(name.startsWith('pruned') ? { reads: 'state' } : {}),
    ...(name.startsWith('null') ? { nullIsLag: true } : {}),
  }
  for (const retry of ['safe', 'dedupe', 'never'] as const) {
    const end = fault.ends[retry]
    if (end === undefined) continue
    const slug = `${name}-${retry}`
    const { test_safe, test_never, ...others } = rules
    networks[slug] = {
      chainId,
      methods: { test_safe: { ...test_safe, ...laid }, test_never: { ...test_never, ...laid }, ...others },
    }
    const http = fault.down === true ? 'http://127.0.0.1:1' : `${bad.url}&case=${slug}`
    const timeout = fault.silent === true ? { timeout: '300ms' } : {}
    routes.push({ id: `${slug}-bad`, network: slug, http, priority: 1, ...timeout })
    routes.push({
      id: `${slug}-good`,
      network: slug,
      http: `${good.url}&case=${slug}`,
      priority: 2,
      capabilities: ['archive'],
    })
    cases.push({ slug, fault, retry, end, bad })
  }
}
const gateway = await startGateway(t, { networks, routes })
const accesses = await createAccesses(gateway, 'paid', Object.keys(networks))
await until('every route has been looked at', async () => {
  const status = await gateway.status()
  const looked: boolean = cases.every(({ slug, fault }) => {
    const { routes } = status.networks.find((network: any) => network.slug === slug)
    const [bad, good] = routes
    if (good.lag !== 0) return false
    if (fault.chainId !== undefined) return bad.healthy === false
    return fault.down === true || bad.lag === (fault.behind ?? 0)
  })
  return looked
})

/** An id that shows whether bytes are passed through. */
const id = '12345678901234567890'
const transaction = '0x02f8' + 'ab'.repeat(50)

interface Seen extends Case {
  readonly reply: HttpReply
  /** The reply to the same call right after, where the fault asks for a pause. */
  readonly again: HttpReply | null
  readonly askedBad: readonly number[]
  readonly askedGood: readonly number[]
}

function asked(node: ScriptedNode, slug: string): number {
  return node.calls.filter(({ url }) => url.endsWith(`&case=${slug}`)).length
}

async function make(each: Case): Promise<Seen> {
  const { slug, retry, fault, bad } = each
  const access = accesses.in(slug)
  const params = [retry === 'dedupe' ? transaction : (fault.block ?? 'latest')]
  const body = message(methods[retry], params, 0).replace('"id":0', `"id":${id}`)
  const reply = await access.post(body)
  const askedBad = [asked(bad, slug)]
  const askedGood = [asked(good, slug)]
  const again = fault.coolsDown === true ? await access.post(body) : null
  askedBad.push(asked(bad, slug))
  askedGood.push(asked(good, slug))
  return { ...each, reply, again, askedBad, askedGood }
}

// All at once, so that every silence is waited for only once; each has a network, and so breakers and budgets, of its own.
const seen = await Promise.all(cases.map(make))
const usage = await accesses.usage()
const ports = [good, ...cases.map(({ bad }) => bad)].map(({ port }) => port)

for (const { slug, fault, retry, end, reply, again, askedBad, askedGood } of seen) {
  t.test(`${slug}: ${typeof end === 'string' ? end : end.join(' or ')}`, async t => {
    if (end === 'good') t.equal(reply.text, `{"jsonrpc":"2.0","id":${id},"result":"good"}`)
    else if (end === 'own') t.equal(reply.text, ownReply(fault))
    else refused(t, reply, { reason: toldReason(reply, end), id })
    if (typeof end === 'string') t.equal(reply.status, 200)
    tellsNothing(t, reply.text + JSON.stringify(reply.headers), 'the reply', ports)
    const [least, most] = retry === 'never' ? [0, 1] : (fault.asked ?? [1, 1])
    t.ok(askedBad[0]! >= least && askedBad[0]! <= most, `asked of the faulty node: ${askedBad[0]}`)
    if (retry === 'never') t.ok(askedBad[0]! + askedGood[0]! <= 1, 'sent at most once')
    t.equal(askedGood[0], end === 'good' ? 1 : 0, 'asked of the good node')
    if (again !== null) {
      t.equal(again.text, `{"jsonrpc":"2.0","id":${id},"result":"good"}`, 'the next call is answered')
      t.equal(askedBad[1], askedBad[0], 'and keeps away from the route')
      t.equal(askedGood[1], askedGood[0]! + 1)
    }
    const charged = (typeof end === 'string' ? 1 : 0) + (again === null ? 0 : 1)
    t.same(usage.get(slug), { requests: cost * charged, calls: charged })
    const attempts = { network: slug, route: `${slug}-good`, result: 'ok' }
    t.equal(await metric(gateway, 'tollgate_attempts_total', attempts), askedGood[1], 'attempts told')
    const tries = await metric(gateway, 'tollgate_attempts_total', { network: slug, route: `${slug}-bad` })
    // Our own questions may have found out before the call that nothing listens there.
    if (fault.down === true) t.ok(tries <= 1, 'attempts told of the faulty route')
    else t.equal(tries, askedBad[1], 'attempts told of the faulty route')
  })
}

/** What the faulty route itself says, under the client's id. */
function ownReply({ handler }: Fault): string {
  let body = ''
  const response = { writeHead: () => undefined, end: (text: string) => (body = text) }
  handler({ id } as never, response as never)
  return body
}

function toldReason(reply: HttpReply, allowed: readonly Reason[]): Reason {
  const found: unknown = JSON.parse(rawMember(reply.text, 'error') ?? '{}').data?.reason
  return allowed.find(reason => reason === found) ?? allowed[0]!
}

t.test('nothing that can be read about it tells of an upstream', async t => {
  const { text } = await gateway.send({ method: 'GET', path: '/' })
  tellsNothing(t, text, 'the front page', ports)
  tellsNothing(t, JSON.stringify(await gateway.status()), '/status', ports)
  t.match(gateway.printed, /attempt/, 'the log tells of failed attempts')
  tellsNothing(t, gateway.printed, 'the log', ports)
})
