import { Agent } from 'node:http'
import t from 'tap'
import { Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { allCapabilities, hostOf } from '../support/config-files.ts'
import { startGateway } from '../support/gateway.ts'
import { metric } from '../support/metrics.ts'
import { refusals } from '../support/refusals.ts'
import { startSocketNode, type ScriptedSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'
import { deniedNames, shippedGates, unknownNames, variantsOf, type Gated } from './names.ts'

const rate = { perSecond: 1_000_000, burst: 1_000_000 }
const ws = { connections: 50, subscriptions: 100 }
const nodes = {
  alpha: await startSocketNode(t, { chainId: 1001 }),
  sol: await startSocketNode(t),
  wide: await startSocketNode(t, { chainId: 1002 }),
}
const route = (network: keyof typeof nodes) => ({
  id: `${network}-a`,
  network,
  http: nodes[network].url,
  ws: nodes[network].wsUrl,
  capabilities: allCapabilities,
})
const gateway = await startGateway(t, {
  networks: {
    alpha: { chainId: 1001, public: true },
    sol: { family: 'solana', chainId: 'solana-test', public: true, methods: { getSupply: { tier: 'paid' } } },
    wide: { chainId: 1002, public: true, methods: { 'eth_*': {}, 'debug_*': { tier: 'paid' }, 'x*': {} } },
  },
  routes: [route('alpha'), route('sol'), route('wide')],
  plans: {
    public: { tiers: ['any'], rate, maxBatch: 1000, ws },
    free: { tiers: ['any'], rate, maxBatch: 1000, ws },
  },
})
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
t.teardown(() => {
  agent.destroy()
})

const notFound = (names: readonly string[]): Gated[] =>
  names.map(name => ({ name, reason: 'method_not_found' }))
const likely = [
  'eth_call',
  'eth_getBalance',
  'eth_sendRawTransaction',
  'debug_traceCall',
  'trace_block',
  'service_listEndpoints',
]
const gates: Readonly<Record<keyof typeof nodes, readonly Gated[]>> = {
  alpha: [
    ...(await shippedGates('evm')),
    ...notFound([...deniedNames, ...unknownNames, ...likely.flatMap(variantsOf)]),
  ],
  sol: [
    ...(await shippedGates('solana')),
    { name: 'getSupply', reason: 'plan_required' },
    ...notFound([
      ...deniedNames,
      ...unknownNames,
      ...['getSlot', 'getAccountInfo', 'sendTransaction'].flatMap(variantsOf),
    ]),
  ],
  // Patterns let names through that no row spells out: the deny list and the form of a name still hold.
  wide: [
    ...notFound([
      ...deniedNames,
      ...deniedNames.map(name => `${name} `),
      ...deniedNames.map(name => `${name}\0`),
    ]),
    ...['debug_traceNew', 'debug_traceCall', 'debug_storageRangeAt', 'debug_x'].map((name): Gated => ({
      name,
      reason: 'plan_required',
    })),
    ...notFound([
      'eth_new ',
      'eth_new\n',
      'eth_neẃ',
      'eth_new/..',
      'eth_ｎew',
      'eth_new\0x',
      'ETH_new',
      'Debug_x',
      'x.y',
      'x y',
    ]),
  ],
}

/** A text of which every character is an escape. */
const escaped = (text: string) =>
  `"${Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')}"`

/** The ways in which a call can be written. */
const forms: Readonly<Record<string, (name: string, id: string) => string>> = {
  plain: (name, id) => `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(name)},"params":[]}`,
  'with escapes': (name, id) => `{"jsonrpc":"2.0","id":${id},"m\\u0065thod":${escaped(name)},"params":[]}`,
  'with an object': (name, id) =>
    `{"jsonrpc":"2.0","params":{"method":"eth_call"},"method":${JSON.stringify(name)},"id":${id}}`,
  'with params for something': (name, id) =>
    `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(name)},"params":[{"to":"0x00"},"latest",{"tracer":"callTracer"}]}`,
}
const notification = (name: string) => `{"jsonrpc":"2.0","method":${JSON.stringify(name)},"params":[]}`

/** What a refused call is told: its id, code, reason and tier. */
const told = (item: any): readonly unknown[] => [
  item.id,
  item.error?.code,
  item.error?.data?.reason,
  item.error?.data?.tier,
]
const expected = (family: 'evm' | 'solana', gated: readonly Gated[], publicly: boolean) =>
  gated.map(({ name, reason }, id) => {
    // Management has no one to speak for on the public route.
    const found = publicly && /^service_(listEndpoints)$/.test(name) ? 'invalid_key' : reason
    return [
      id,
      refusals[found][family === 'evm' ? 1 : 2],
      found,
      found === 'plan_required' ? 'paid' : undefined,
    ]
  })
const inBatches = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / 500) }, (_, i) => items.slice(i * 500, (i + 1) * 500))

let combinations = 0
for (const slug of ['alpha', 'sol', 'wide'] as const) {
  const family = slug === 'sol' ? 'solana' : 'evm'
  const gated = gates[slug]
  const access = await createAccess(gateway, 'free', slug)
  const open = new Access(gateway, slug, 'public')
  const ways = {
    'the path form': { by: access, options: { agent } },
    'the host form': {
      by: access,
      options: { agent, path: `/v1/rpc/${access.key}`, headers: { host: hostOf(slug) } },
    },
    'the public route': { by: open, options: { agent } },
    'the public route in the host form': {
      by: open,
      options: { agent, path: '/v1/rpc/public', headers: { host: hostOf(slug) } },
    },
  }

  for (const [form, write] of Object.entries(forms)) {
    for (const [way, { by, options }] of Object.entries(ways)) {
      t.test(`${slug}: ${gated.length} names in batches, ${form}, on ${way}`, async t => {
        const replies: unknown[] = []
        for (const batch of inBatches(gated.map(({ name }, id) => write(name, String(id))))) {
          const { text } = await by.post(`[${batch.join()}]`, options)
          replies.push(...(JSON.parse(text) as unknown[]).map(told))
        }
        t.strictSame(replies, expected(family, gated, by === open))
        combinations += gated.length
      })
    }
    t.test(`${slug}: the same over a WebSocket, ${form}`, async t => {
      for (const by of [access, open]) {
        const client = await openClient(t, by)
        const replies: unknown[] = []
        for (const batch of inBatches(gated.map(({ name }, id) => write(name, String(id)))))
          replies.push(...(JSON.parse(await client.exchange(`[${batch.join()}]`)) as unknown[]).map(told))
        for (const [id, { name }] of gated.entries()) client.send(write(name, String(id)))
        const singles = await Promise.all(gated.map((_, id) => client.reply(String(id))))
        t.strictSame(replies, expected(family, gated, by === open))
        t.strictSame(singles.map(told), expected(family, gated, by === open), 'one frame each')
        combinations += 2 * gated.length
      }
    })
  }

  t.test(`${slug}: each alone, on its own status`, async t => {
    const replies = []
    for (const [id, { name }] of gated.entries()) {
      const { status, text } = await access.post(forms['plain']!(name, String(id)), { agent })
      replies.push([status, ...told(JSON.parse(text))])
    }
    t.strictSame(
      replies,
      expected(family, gated, false).map((row, i) => [refusals[gated[i]!.reason][0], ...row]),
    )
    combinations += gated.length
  })

  t.test(`${slug}: notifications are answered by nothing`, async t => {
    const client = await openClient(t, access)
    for (const batch of inBatches(gated.map(({ name }) => notification(name)))) {
      const reply = await access.post(`[${batch.join()}]`, { agent })
      t.equal(reply.status, 204)
      t.equal(reply.text, '')
      client.send(`[${batch.join()}]`)
      for (const one of batch) client.send(one)
    }
    t.match(
      await client.exchange(forms['plain']!('nope', '"end"')),
      '"end"',
      'the first frame is the answer to the last',
    )
    combinations += 3 * gated.length
  })

  t.test(`${slug}: nothing of it reached the node, and nobody was charged`, async t => {
    t.same(nodes[slug].calls, [])
    t.same(nodes[slug].socketRequests, [])
    t.same(unasked(nodes[slug], gated), [], 'not even what the gateway asks by itself')
    t.same(await access.usage(), { requests: 0, calls: 0 })
    t.equal(await metric(gateway, 'tollgate_requests_total', { network: slug }), 0)
  })
}

/** Requests under a gated name; housekeeping is not among `calls`. */
function unasked(node: ScriptedSocketNode, gated: readonly Gated[]): unknown[] {
  const names = new Set(gated.map(({ name }) => name))
  return node.requests.filter(({ method }) => method !== null && names.has(method))
}

t.test('what is allowed still goes through, exactly as it is called', async t => {
  t.comment(`${combinations} combinations were refused`)
  t.ok(combinations > 30_000)
  const access = await createAccess(gateway, 'free', 'wide')
  t.match(await access.call('eth_newThing', []), { result: 'ok' })
  t.match(await access.call('xyz', []), { result: 'ok' })
  t.match(JSON.parse((await access.post(forms['with escapes']!('eth_newThing', '1'))).text), { result: 'ok' })
  t.same(
    nodes.wide.calls.map(({ method }) => method),
    ['eth_newThing', 'xyz', 'eth_newThing'],
  )
  t.same(await access.usage(), { requests: 3, calls: 3 })
})
