/** What every implementation of the port Subscriptions keeps to: the one over sockets to nodes, and a plain one. */
import t, { type Test } from 'tap'
import type { Raw } from '../../src/jsonrpc/raw.ts'
import type { Listener, Share, Subscriptions } from '../../src/ports/subscriptions.ts'
import { isRefusal } from '../../src/refusal/refusal.ts'
import { atOnce } from '../../src/reload/time-slices.ts'
import { Heads } from '../../src/routes/heads.ts'
import { Upstreams } from '../../src/routes/upstreams.ts'
import type { Snapshot } from '../../src/snapshot/types.ts'
import { SharedSubscriptions } from '../../src/subscriptions/shared/subscriptions.ts'
import { PlainSubscriptions } from '../support/plain-subscriptions.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { snapshotOf } from '../support/snapshot.ts'
import { until } from '../support/until.ts'

const ERROR = '{"code":-32000,"message":"no such subscription"}'

/** One implementation in front of a node: what the node says to all, and that it takes no further subscription. */
interface Made {
  readonly snapshot: Snapshot
  readonly subscriptions: Subscriptions
  readonly push: (result: Raw) => void
  readonly refuse: () => void
}

const methods = `
notification: { cost: 1 }
families:
  evm:
    eth_subscribe: { needs: [ws], subscribe: eth_unsubscribe }
`

const implementations: Readonly<Record<string, (t: Test) => Promise<Made>>> = {
  shared: async t => {
    const node = await startSocketNode(t)
    const routes = `routes: [{ id: a, network: eth, http: "${node.url}", ws: "${node.wsUrl}" }]`
    const snapshot = await snapshotOf(t, { methods, routes })
    const upstreams = new Upstreams(new Heads())
    upstreams.adopt(atOnce(upstreams.open(snapshot)))
    const none = () => undefined
    const subscriptions = new SharedSubscriptions({
      upstreams,
      snapshot,
      connectTimeout: () => 2_000,
      budget: null,
      events: { bug: error => t.fail(String(error)), cut: none, socketsFail: none, socketsLast: none },
    })
    t.teardown(() => upstreams.close())
    return {
      snapshot,
      subscriptions,
      push: result => node.push('eth_subscribe', result),
      refuse: () => node.onSubscribe(() => ({ error: ERROR })),
    }
  },
  plain: async t => {
    const subscriptions = new PlainSubscriptions()
    return {
      snapshot: await snapshotOf(t, { methods }),
      subscriptions,
      push: result => {
        subscriptions.push(result)
      },
      refuse: () => {
        subscriptions.error = { kind: 'error', error: ERROR, code: -32000, message: 'no such subscription' }
      },
    }
  },
}

/** A client: what it hears, in order. */
function client(): { readonly heard: Raw[]; readonly listener: Listener } {
  const heard: Raw[] = []
  const listener: Listener = {
    message: ({ result }) => heard.push(result),
    lost: why => heard.push(`lost: ${why}`),
  }
  return { heard, listener }
}

for (const [name, make] of Object.entries(implementations)) {
  /** One of them, and how clients join the subscription to logs of one address. */
  const made = async (t: Test) => {
    const one = await make(t)
    const network = one.snapshot.networks['eth']!
    const row = network.methods['eth_subscribe']!
    t.teardown(() => {
      one.subscriptions.close()
    })
    const join = (listener: Listener, { holder = 'acc_1', limit = 10, address = '0x1' } = {}) => {
      const call = { method: 'eth_subscribe', params: `["logs",{"address":"${address}"}]` }
      return one.subscriptions.join(network, row, call, listener, { holder, limit })
    }
    const joined = async (...asked: Parameters<typeof join>): Promise<Share> => {
      const share = await join(...asked)
      if (isRefusal(share) || 'kind' in share) throw new Error(JSON.stringify(share))
      return share
    }
    return { ...one, join, joined }
  }

  t.test(`${name}: equal calls share one subscription, and each client hears its messages`, async t => {
    const { subscriptions, joined, push } = await made(t)
    const [one, two, other] = [client(), client(), client()]
    for (const share of [await joined(one.listener), await joined(two.listener, { holder: 'acc_2' })])
      share.start()
    t.strictSame([...subscriptions.count()], [['eth', 1]])
    const apart = await joined(other.listener, { address: '0x2' })
    apart.start()
    t.strictSame([...subscriptions.count()], [['eth', 2]])
    push('"first"')
    push('"second"')
    const all = [one, two, other]
    await until('each has heard both', () => Promise.resolve(all.every(({ heard }) => heard.length === 2)))
    for (const { heard } of all) t.strictSame(heard, ['"first"', '"second"'])
  })

  t.test(`${name}: what comes before a client knows its id waits for it, in order`, async t => {
    const { joined, push } = await made(t)
    const [early, late] = [client(), client()]
    const first = await joined(early.listener)
    first.start()
    const second = await joined(late.listener)
    push('"one"')
    push('"two"')
    await until('both have come', () => Promise.resolve(early.heard.length === 2))
    t.strictSame(late.heard, [])
    second.start()
    t.strictSame(late.heard, ['"one"', '"two"'])
  })

  t.test(`${name}: who has left hears nothing more, and may leave twice`, async t => {
    const { joined, push } = await made(t)
    const [stays, leaves] = [client(), client()]
    const [kept, left] = [await joined(stays.listener), await joined(leaves.listener)]
    kept.start()
    left.start()
    left.leave()
    left.leave()
    push('"late"')
    await until('the other has heard it', () => Promise.resolve(stays.heard.length === 1))
    t.strictSame(leaves.heard, [])
  })

  t.test(`${name}: a holder has as many as it may, races included, and a place is free again`, async t => {
    const { join, joined } = await made(t)
    const limit = 2
    const asked = await Promise.all(
      ['0x1', '0x2', '0x3'].map(address => join(client().listener, { limit, address })),
    )
    const refused = asked.filter(isRefusal)
    t.match(refused, [{ reason: 'too_many_subscriptions', data: { limit } }])
    t.equal(refused.length, 1)
    await joined(client().listener, { holder: 'acc_2', limit })
    for (const share of asked) if ('leave' in share) share.leave()
    const again = await joined(client().listener, { limit })
    again.start()
  })

  t.test(`${name}: a node's error is the answer, and leaves nothing behind`, async t => {
    const { subscriptions, join, refuse } = await made(t)
    refuse()
    t.match(await join(client().listener, { limit: 1 }), { kind: 'error', error: ERROR, code: -32000 })
    t.match(await join(client().listener, { limit: 1 }), { kind: 'error' }, 'its place is free')
    t.strictSame(
      [...subscriptions.count()].filter(([, count]) => count > 0),
      [],
    )
  })

  t.test(`${name}: nothing is known against a route that carries subscriptions`, async t => {
    const { subscriptions, joined, snapshot } = await made(t)
    await joined(client().listener)
    subscriptions.reconcile(snapshot)
    t.equal(subscriptions.whyNoSocket('a'), null)
  })
}
