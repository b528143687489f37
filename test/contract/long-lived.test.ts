/** Event streams, WebSockets and subscriptions follow keys, plans and rules while they are open; those of another account stay. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { message, type Access } from '../support/access.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { openStream, type EventStream } from '../support/event-stream.ts'
import { fewAndSubscribe } from '../support/few-methods.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { startHttpNode } from '../support/scripted-http-node.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'

const api = await startHttpNode(t)
const node = await startSocketNode(t, { chainId: 1001 })
const subscribe = (tier: string) =>
  fewAndSubscribe.replace('eth_subscribe: { needs', `eth_subscribe: { tier: ${tier}, needs`)
const methods = `${subscribe('paid')}  http:\n    "GET /events": {}\n    "GET /late": {}\n`
const large = { tiers: ['any', 'paid'], ws: { connections: 8, subscriptions: 30 } }
const gateway = await startGateway(t, {
  methods,
  networks: { beacon: { family: 'http', chainId: 'mainnet' }, alpha: { chainId: 1001 } },
  routes: [
    { id: 'beacon-a', network: 'beacon', http: api.url },
    { id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl },
  ],
  plans: {
    large,
    small: { ...large, ws: { connections: 3, subscriptions: 5 } },
    basic: { ...large, tiers: ['any'] },
  },
})
api.on('/events', (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(': hello\n\n')
})

const changePlan = ({ accountId }: Access, plan: string) =>
  withAccounts(gateway, store => store.accounts.change(accountId, { plan }))

async function openEvents(access: Access): Promise<EventStream> {
  const stream = await openStream(t, access, '/events')
  await stream.has('hello')
  return stream
}
const bystander = await createAccess(gateway, 'large', 'beacon')
const bystanders = [await openEvents(bystander), await openEvents(bystander)]
const onAlpha = await bystander.another('alpha')
const watching = await openClient(t, onAlpha)
await watching.subscribe('eth_subscribe', ['newHeads'])
const othersStay = async (t: Test): Promise<void> => {
  t.notOk(
    bystanders.some(stream => stream.isOver),
    "another account's streams stay",
  )
  t.match(await watching.call('eth_chainId'), { result: '0x3e9' }, 'and its socket')
}

const denials: Readonly<
  Record<string, readonly [status: number, make: (access: Access, owner: Access) => unknown]>
> = {
  'endpoint deleted': [
    401,
    ({ endpointId }, owner) => owner.managed('service_deleteEndpoint', [{ endpointId }]),
  ],
  'account suspended': [
    403,
    ({ accountId }) =>
      withAccounts(gateway, store => store.accounts.change(accountId, { status: 'suspended' })),
  ],
}
for (const [what, [status, make]] of Object.entries(denials))
  t.test(`an event stream whose head comes late: ${what} meanwhile`, async t => {
    const gate = new Gate()
    api.on('/late', async (_, response) => {
      await gate.pass()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(': hello\n\n')
    })
    const owner = await createAccess(gateway, 'large', 'beacon')
    const access = await owner.another('beacon')
    const opening = openStream(t, access, '/late')
    await until('the node has the request', () => Promise.resolve(gate.held === 1))
    await make(access, owner)
    await until('the gateway refuses the key', async () => {
      const { status: now } = await access.post(message('service_account'))
      return now === status
    })
    const broken = api.broken
    gate.open()
    const stream = await opening
    t.equal(stream.status, status)
    await stream.ended
    t.notMatch(stream.text, /hello/)
    await api.broke(broken + 1)
    await othersStay(t)
  })

t.test('a smaller plan closes the newest sockets and event streams above its connections', async t => {
  const access = await createAccess(gateway, 'large', 'beacon')
  const alpha = await access.another('alpha')
  const first = [await openEvents(access), await openEvents(access)]
  const client = await openClient(t, alpha)
  const surplus = [await openEvents(access), await openEvents(access), await openEvents(access)]
  const last = await openClient(t, alpha)
  await changePlan(access, 'small')
  t.strictSame(await Promise.all(surplus.map(stream => stream.ended)), ['end', 'end', 'end'])
  t.match(await last.closedBy('the smaller plan'), { code: 1008, reason: 'too_many_connections' })
  t.notOk(
    first.some(stream => stream.isOver),
    'the oldest stay',
  )
  t.match(await client.call('eth_chainId'), { result: '0x3e9' })
  await othersStay(t)
})

t.test('a smaller plan closes the sockets with the newest subscriptions above its limit', async t => {
  const access = await createAccess(gateway, 'large', 'alpha')
  const [first, second] = [await openClient(t, access), await openClient(t, access)]
  for (let n = 0; n < 5; n += 1) await first.subscribe('eth_subscribe', ['newHeads'])
  for (let n = 0; n < 15; n += 1) await second.subscribe('eth_subscribe', ['newHeads'])
  await changePlan(access, 'small')
  t.match(await second.closedBy('the smaller plan'), { code: 1008, reason: 'too_many_subscriptions' })
  t.match(await first.call('eth_chainId'), { result: '0x3e9' }, 'what the plan allows stays')
  const again = await openClient(t, access)
  t.match(await again.call('eth_subscribe', ['newHeads']), {
    error: { data: { reason: 'too_many_subscriptions' } },
  })
  await othersStay(t)
})

t.test(
  'a plan without the tier of a subscription closes its socket; one without a subscription stays',
  async t => {
    const access = await createAccess(gateway, 'large', 'alpha')
    const [subscribed, plain] = [await openClient(t, access), await openClient(t, access)]
    await subscribed.subscribe('eth_subscribe', ['newHeads'])
    await changePlan(access, 'basic')
    t.match(await subscribed.closedBy('the plan'), { code: 1008, reason: 'plan_required' })
    t.match(await plain.call('eth_chainId'), { result: '0x3e9' })
    await othersStay(t)
  },
)

t.test('an edit that removes the row of a subscription closes its socket', async t => {
  const access = await createAccess(gateway, 'large', 'alpha')
  const client = await openClient(t, access)
  await client.subscribe('eth_subscribe', ['newHeads'])
  const file = join(gateway.dir, 'methods.yaml')
  const yaml = await readFile(file, 'utf8')
  await writeFile(file, yaml.replace(/ +eth_subscribe:.*\n/, ''))
  t.match(await client.closedBy('the edit'), { code: 1008, reason: 'method_not_found' })
  t.notOk(
    bystanders.some(stream => stream.isOver),
    'event streams stay',
  )
})
