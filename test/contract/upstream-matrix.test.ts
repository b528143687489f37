import t from 'tap'
import { message } from '../support/access.ts'
import { createAccesses } from '../support/accesses.ts'
import type { NetworkYaml, RouteYaml } from '../support/config-files.ts'
import { tellsNothing } from '../support/faults.ts'
import { startGateway } from '../support/gateway.ts'
import type { HttpReply } from '../support/http.ts'
import { result } from '../support/node-replies.ts'
import { rawMember } from '../support/raw-json.ts'
import { refused, type Reason } from '../support/refusals.ts'
import { startNode, type ScriptedNode } from '../support/scripted-node.ts'
import { randomTransaction } from '../support/solana-transactions.ts'
import { until } from '../support/until.ts'
import { samples } from '../support/usage-views.ts'
import { chainId, faults, head, type End, type Fault } from './upstream-faults.ts'

const cost = 3
const block = { at: 0, kind: 'ref' }
/** Reads of state, so that the age of their block matters; on one network also of what an old head does not know. */
const rules = {
  test_safe: { cost, retry: 'safe', params: [1, 1], block },
  test_never: { cost, retry: 'never', params: [1, 1], block },
}
const senders = { evm: 'eth_sendRawTransaction', solana: 'sendTransaction' }
type Class = 'safe' | 'dedupe' | 'never'
const methodOf = (retry: Class, family: keyof typeof senders) =>
  retry === 'dedupe' ? senders[family] : `test_${retry}`

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
    ...(name.includes('null') ? { nullIsLag: true } : {}),
  }
  for (const retry of ['safe', 'dedupe', 'never'] as const) {
    const end = fault.ends[retry]
    if (end === undefined) continue
    const slug = `${name}-${retry}`
    const { family = 'evm' } = fault
    const { test_safe, test_never } = rules
    networks[slug] = {
      ...(family === 'evm' ? { chainId } : { family, chainId: 'solana-test' }),
      methods: {
        test_safe: { ...test_safe, ...laid },
        test_never: { ...test_never, ...laid },
        [senders[family]]: { cost },
      },
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
await until(
  'every route has been looked at',
  async () => {
    const status = await gateway.status()
    const looked: boolean = cases.every(({ slug, fault }) => {
      const { routes } = status.networks.find((network: any) => network.slug === slug)
      const [bad, good] = routes
      if (good.lag !== 0) return false
      if (fault.chainId !== undefined) return bad.healthy === false
      return fault.down === true || bad.lag === (fault.behind ?? 0)
    })
    return looked
  },
  60_000,
)

/** An id that shows whether bytes are passed through. */
const id = '12345678901234567890'
const transactions = { evm: '0x02f8' + 'ab'.repeat(50), solana: randomTransaction().base58 }

interface Seen extends Case {
  readonly reply: HttpReply
  /** The reply to the same call when the faulty route pauses; null where the fault asks for no pause. */
  readonly next: HttpReply | null
  /** Milliseconds between two calls at the faulty node. */
  readonly pauses: readonly number[]
  readonly askedBad: readonly number[]
  readonly askedGood: readonly number[]
}

/** The shortest first pause of a route, in milliseconds; one right after another is twice as long. */
const PAUSE = 800

/** Calls of clients: a probe for the method has no params. */
function callsTo(node: ScriptedNode, slug: string) {
  return node.calls.filter(({ url, params }) => url.endsWith(`&case=${slug}`) && params !== '[]')
}
const asked = (node: ScriptedNode, slug: string): number => callsTo(node, slug).length

async function make(each: Case): Promise<Seen> {
  const { slug, retry, fault, bad } = each
  const access = accesses.in(slug)
  const { family = 'evm' } = fault
  const params = [retry === 'dedupe' ? transactions[family] : (fault.block ?? 'latest')]
  const body = message(methodOf(retry, family), params, 0).replace('"id":0', `"id":${id}`)
  const reply = await access.post(body)
  const askedBad = [asked(bad, slug)]
  const askedGood = [asked(good, slug)]
  let next: HttpReply | null = null
  // On a slow machine a pause may be over before the next call is there; the one that this call begins is twice as long.
  for (let met = 0; fault.coolsDown === true && met < asked(bad, slug) && met < 5;) {
    met = asked(bad, slug)
    next = await access.post(body)
  }
  askedBad.push(asked(bad, slug))
  askedGood.push(asked(good, slug))
  const times = callsTo(bad, slug).map(({ at }) => at)
  const pauses = times.slice(1).map((at, n) => at - times[n]!)
  return { ...each, reply, next, pauses, askedBad, askedGood }
}

// A family at once, so that its silences are waited for together; each has a network, and so breakers and budgets, of its own.
const seen: Seen[] = []
for (const family of [undefined, 'solana'] as const)
  seen.push(...(await Promise.all(cases.filter(({ fault }) => fault.family === family).map(make))))
const usage = await accesses.usage()
// The page has a line for each route and result: it is read once.
const attempts = await samples(gateway, 'tollgate_attempts_total')
const attemptsOf = (wanted: Readonly<Record<string, string>>): number =>
  attempts
    .filter(({ labels }) => Object.entries(wanted).every(([name, value]) => labels[name] === value))
    .reduce((sum, { value }) => sum + value, 0)
const ports = [good, ...cases.map(({ bad }) => bad)].map(({ port }) => port)

for (const { slug, fault, retry, end, reply, next, pauses, askedBad, askedGood } of seen) {
  t.test(`${slug}: ${typeof end === 'string' ? end : end.join(' or ')}`, t => {
    if (end === 'good') t.equal(reply.text, `{"jsonrpc":"2.0","id":${id},"result":"good"}`)
    else if (end === 'own') t.equal(reply.text, ownReply(fault))
    else refused(t, reply, { reason: toldReason(reply, end), id, family: fault.family ?? 'evm' })
    if (typeof end === 'string') t.equal(reply.status, 200)
    tellsNothing(t, reply.text + JSON.stringify(reply.headers), 'the reply', ports)
    const [least, most] = retry === 'never' ? [0, 1] : (fault.asked ?? [1, 1])
    t.ok(askedBad[0]! >= least && askedBad[0]! <= most, `asked of the faulty node: ${askedBad[0]}`)
    if (retry === 'never') t.ok(askedBad[0]! + askedGood[0]! <= 1, 'sent at most once')
    t.equal(askedGood[0], end === 'good' ? 1 : 0, 'asked of the good node')
    const paused = fault.coolsDown === true ? 1 : 0
    if (paused === 1) {
      t.equal(next?.text, `{"jsonrpc":"2.0","id":${id},"result":"good"}`, 'the next call is answered')
      t.ok(
        pauses.every((ms, n) => ms >= PAUSE * 2 ** n),
        `and keeps away from the route, which was called again after ${pauses.join(', ')} ms`,
      )
    }
    const alike = 1 + askedBad[1]! - askedBad[0]!
    t.equal(askedGood[1], askedGood[0]! * alike + paused)
    const charged = (typeof end === 'string' ? alike : 0) + paused
    t.same(usage.get(slug), { requests: cost * charged, calls: charged })
    const good = { network: slug, route: `${slug}-good`, result: 'ok' }
    t.equal(attemptsOf(good), askedGood[1], 'attempts told')
    const tries = attemptsOf({ network: slug, route: `${slug}-bad` })
    // Our own questions may have found out before the call that nothing listens there.
    if (fault.down === true) t.ok(tries <= 1, 'attempts told of the faulty route')
    else t.equal(tries, askedBad[1], 'attempts told of the faulty route')
    t.end()
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
