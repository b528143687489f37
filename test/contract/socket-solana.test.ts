import t, { type Test } from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { result } from '../support/node-replies.ts'
import { rawMember } from '../support/raw-json.ts'
import { unknownSubscription, type ScriptedSocketNode } from '../support/scripted-socket-node.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient, type SocketClient } from '../support/socket-client.ts'

/** Every scenario has a network with two nodes of its own: the first one serves until it is taken down. */
const slugs = [
  'once',
  'received',
  'going-on',
  'missed',
  'pending',
  'failed',
  'early',
  'unwell',
  'shared',
] as const
const pairs = new Map<string, { readonly a: ScriptedSocketNode; readonly b: ScriptedSocketNode }>()
for (const slug of slugs) pairs.set(slug, { a: await startSocketNode(t), b: await startSocketNode(t) })
const gateway = await startGateway(t, {
  networks: Object.fromEntries(slugs.map(slug => [slug, { family: 'solana', chainId: `solana-${slug}` }])),
  routes: [...pairs].flatMap(([slug, { a, b }]) => [
    { id: `${slug}-a`, network: slug, http: a.url, ws: a.wsUrl, priority: 1 },
    // One of them has nowhere else to go.
    ...(slug === 'shared' ? [] : [{ id: `${slug}-b`, network: slug, http: b.url, ws: b.wsUrl, priority: 2 }]),
  ]),
})
const account = await createAccess(gateway, 'paid', 'once')

async function start(t: Test, slug: (typeof slugs)[number]) {
  const access = slug === 'once' ? account : await account.another(slug)
  return { ...pairs.get(slug)!, access, client: await openClient(t, access) }
}

const signature = (label: string) => label.padEnd(88, '5')
const done = (slot: number, err: unknown = null) => JSON.stringify({ context: { slot }, value: { err } })
const received = (slot: number) => JSON.stringify({ context: { slot }, value: 'receivedSignature' })
const about = (wanted: string) => (one: { readonly params: string }) => one.params.includes(wanted)

/** What getSignatureStatuses answers. */
const statuses = (value: unknown, slot = 90) => result(JSON.stringify({ context: { slot }, value: [value] }))
const status = (confirmationStatus: string, err: unknown = null) => ({
  slot: 88,
  confirmations: confirmationStatus === 'finalized' ? null : 1,
  err,
  confirmationStatus,
  status: err === null ? { Ok: null } : { Err: err },
})

/** Holds that a subscription is over: it is unknown to whoever would end it. */
async function isOver(t: Test, client: SocketClient, subscription: string): Promise<void> {
  t.strictSame(
    (await client.call('signatureUnsubscribe', [Number(subscription)])).error,
    JSON.parse(unknownSubscription('signatureUnsubscribe')),
  )
}

t.test('a signature is told of once, and then the subscription is over', async t => {
  const { a, client, access } = await start(t, 'once')
  const [first, second] = [signature('one'), signature('two')]
  const one = await client.subscribe('signatureSubscribe', [first, { commitment: 'confirmed' }])
  const two = await client.subscribe('signatureSubscribe', [second])
  a.pushLast('signatureSubscribe', done(77, { InstructionError: [0, { Custom: 1 }] }), about(first))
  t.strictSame(await client.notified(one, 1), [
    { context: { slot: 77 }, value: { err: { InstructionError: [0, { Custom: 1 }] } } },
  ])
  t.equal(rawMember(client.frames.at(-1)!, 'method'), '"signatureNotification"')
  await isOver(t, client, one)
  a.pushLast('signatureSubscribe', done(78), about(second))
  t.strictSame(await client.notified(two, 1), [{ context: { slot: 78 }, value: { err: null } }])
  await isOver(t, client, two)
  t.equal((await access.usage()).requests, 4, 'two subscribed, two told')
  const again = await client.subscribe('signatureSubscribe', [first, { commitment: 'confirmed' }])
  t.equal(a.live('signatureSubscribe').length, 1, 'who asks again begins anew')
  t.match(await client.call('signatureUnsubscribe', [Number(again)]), { result: true })
})

t.test('that a signature was received comes first where it is asked for, and ends nothing', async t => {
  const { a, client } = await start(t, 'received')
  const wanted = signature('received')
  const subscription = await client.subscribe('signatureSubscribe', [
    wanted,
    { commitment: 'finalized', enableReceivedNotification: true },
  ])
  a.push('signatureSubscribe', received(70), about(wanted))
  t.strictSame(await client.notified(subscription, 1), [
    { context: { slot: 70 }, value: 'receivedSignature' },
  ])
  a.pushLast('signatureSubscribe', done(71), about(wanted))
  t.strictSame((await client.notified(subscription, 2))[1], { context: { slot: 71 }, value: { err: null } })
  await isOver(t, client, subscription)
})

t.test('clients that wait for one signature are all told, and what they had is free', async t => {
  const { a, client, access } = await start(t, 'shared')
  const clients = [client, await openClient(t, access), await openClient(t, access)]
  const wanted = signature('shared')
  const subscriptions: string[] = []
  for (const one of clients) subscriptions.push(await one.subscribe('signatureSubscribe', [wanted]))
  t.equal(a.live('signatureSubscribe').length, 1)
  a.pushLast('signatureSubscribe', done(5), about(wanted))
  for (const [i, one] of clients.entries()) {
    t.strictSame(await one.notified(subscriptions[i]!, 1), [{ context: { slot: 5 }, value: { err: null } }])
    await isOver(t, one, subscriptions[i]!)
  }
  t.equal(a.live().length, 0)
  // The plan allows 100: more than that, one after the other, are never too many.
  for (let i = 0; i < 120; i++) {
    const next = signature(`many ${i}`)
    const subscription = await client.subscribe('signatureSubscribe', [next])
    t.equal(a.pushLast('signatureSubscribe', done(i), about(next)), 1)
    await client.notified(subscription, 1)
  }
})

t.test('slots, logs and accounts go on over another node, under the same ids', async t => {
  const { a, b, client } = await start(t, 'going-on')
  const methods = ['slotSubscribe', 'logsSubscribe', 'accountSubscribe'] as const
  const subscriptions: string[] = []
  for (const method of methods)
    subscriptions.push(await client.subscribe(method, method === 'slotSubscribe' ? [] : ['all']))
  const push = (node: ScriptedSocketNode, slot: number) => {
    const raw = `{"slot":${slot},"u64":18446744073709551615}`
    for (const method of methods) node.push(method, raw)
    return raw
  }
  const raws = [push(a, 1), push(a, 2)]
  for (const subscription of subscriptions) await client.notified(subscription, 2)
  await a.close()
  await b.when('all three subscriptions', () => b.live().length === 3)
  raws.push(push(b, 5), push(b, 6))
  for (const [i, subscription] of subscriptions.entries()) {
    await client.notified(subscription, 4)
    const told = client.frames.flatMap(frame => {
      const params = rawMember(frame, 'params')
      const own = params !== undefined && rawMember(params, 'subscription') === subscription
      return own ? [rawMember(params, 'result')] : []
    })
    t.strictSame(told, raws, `what came of ${methods[i]}`)
    const end = methods[i]!.replace('Subscribe', 'Unsubscribe')
    t.match(await client.call(end, [Number(subscription)]), { result: true })
  }
  t.equal(client.over, undefined)
})

t.test('a signature that was confirmed while nobody listened is told of', async t => {
  const { a, b, client } = await start(t, 'missed')
  const wanted = signature('missed')
  const subscription = await client.subscribe('signatureSubscribe', [wanted, { commitment: 'confirmed' }])
  b.on('getSignatureStatuses', statuses(status('confirmed')))
  await a.close()
  t.match(await client.notified(subscription, 1), [{ context: { slot: Number }, value: { err: null } }])
  t.ok(b.count('getSignatureStatuses') >= 1)
  const asked = b.requests.find(({ method }) => method === 'getSignatureStatuses')
  t.strictSame(JSON.parse(asked!.params)[0], [wanted])
  await isOver(t, client, subscription)
  t.equal(client.frames.filter(frame => frame.includes('signatureNotification')).length, 1)
})

t.test('one that is not final enough yet is waited for', async t => {
  const { a, b, client } = await start(t, 'pending')
  const labels = ['unknown', 'processed', 'confirmed'] as const
  const subscriptions: string[] = []
  for (const label of labels)
    subscriptions.push(
      await client.subscribe('signatureSubscribe', [
        signature(label),
        // The default of Solana's nodes is finalized.
        ...(label === 'processed' ? [{ commitment: 'confirmed' }] : []),
      ]),
    )
  b.on('getSignatureStatuses', (request, response) => {
    const [[asked]] = JSON.parse(request.params) as [[string]]
    const label = labels.find(one => asked === signature(one))
    statuses(label === 'unknown' ? null : status(label!))(request, response)
  })
  await a.close()
  await b.when('all three subscriptions', () => b.live().length === 3)
  await Promise.all(labels.map((_, i) => b.arrived('getSignatureStatuses', i + 1)))
  t.match(await client.call('getSlot'), { result: Number })
  t.notOk(client.frames.some(frame => frame.includes('signatureNotification')))
  for (const [i, label] of labels.entries()) {
    b.pushLast('signatureSubscribe', done(100 + i), about(signature(label)))
    t.strictSame(await client.notified(subscriptions[i]!, 1), [
      { context: { slot: 100 + i }, value: { err: null } },
    ])
    await isOver(t, client, subscriptions[i]!)
  }
})

t.test('one that failed meanwhile is told of with its error', async t => {
  const { a, b, client } = await start(t, 'failed')
  const subscription = await client.subscribe('signatureSubscribe', [signature('failed')])
  const err = { InstructionError: [2, { Custom: 6001 }] }
  b.on('getSignatureStatuses', statuses(status('finalized', err)))
  await a.close()
  t.match(await client.notified(subscription, 1), [{ value: { err } }])
  await isOver(t, client, subscription)
})

t.test('a notification that outruns its reply and is the last one', async t => {
  const { a, client } = await start(t, 'early')
  a.onSubscribe(() => ({ before: done(3) }))
  const subscription = await client.subscribe('signatureSubscribe', [signature('early')])
  t.strictSame(await client.notified(subscription, 1), [{ context: { slot: 3 }, value: { err: null } }])
  await isOver(t, client, subscription)
})

t.test('a node that is behind carries nothing; what it says of the params is final', async t => {
  const { a, b, client } = await start(t, 'unwell')
  a.onSubscribe(() => ({
    error: '{"code":-32005,"message":"Node is behind by 42 slots","data":{"numSlotsBehind":42}}',
  }))
  await client.subscribe('slotSubscribe')
  t.equal(b.live('slotSubscribe').length, 1)
  const wrong = { code: -32602, message: 'Invalid param: WrongSize' }
  a.onSubscribe(() => ({ error: JSON.stringify(wrong) }))
  t.strictSame((await client.call('accountSubscribe', ['x'])).error, wrong)
  t.equal(b.live('accountSubscribe').length, 0)
})
