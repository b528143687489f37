import t from 'tap'
import { Ajv, type Schema } from 'ajv'
import { createAccess } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'

const text = { type: 'string', minLength: 1 } as const
const whole = { type: 'integer', minimum: 0 } as const
const truth = { type: 'boolean' } as const
const exactly = (properties: Record<string, Schema>, optional: Record<string, Schema> = {}): Schema => ({
  type: 'object',
  required: Object.keys(properties),
  properties: { ...properties, ...optional },
  additionalProperties: false,
})
const atLeast = (properties: Record<string, Schema>): Schema => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
})
const listOf = (items: Schema): Schema => ({ type: 'array', items, minItems: 1 })

const endpointMembers = {
  endpointId: text,
  name: text,
  chain: text,
  status: { enum: ['active', 'inactive'] },
  apiKey: { type: 'string', pattern: '^tg_[0-9A-Za-z]{38}$' },
  httpsUrl: { type: 'string', pattern: '^http://.*/v1/rpc/tg_' },
  // The network has no WebSocket route.
  wssUrl: { const: '' },
}
const endpoint = exactly(endpointMembers)
const account = exactly({
  accountId: text,
  name: text,
  plan: text,
  status: { enum: ['active', 'suspended'] },
  createdAt: whole,
})
const explanation = exactly(
  {
    network: { const: 'alpha' },
    method: text,
    plan: text,
    live: truth,
    outcome: { enum: ['forward', 'answer', 'refuse'] },
    rule: {
      anyOf: [
        { type: 'null' },
        exactly({ match: text, cost: whole, tier: text, needs: { type: 'array', items: text } }),
      ],
    },
    routes: { type: 'array', items: exactly({ id: text, able: truth }, { why: text }) },
  },
  { reason: text, message: text, share: text },
)
const problem = exactly(
  { file: text, line: whole, column: whole, path: { type: 'string' }, severity: text, message: text },
  { hint: text, kind: text },
)
const checked = exactly({
  ok: truth,
  dir: text,
  problems: { type: 'array', items: problem },
  counts: exactly({ networks: whole, routes: whole, methods: whole, plans: whole }),
})
const usageRow = exactly({
  time: whole,
  accountId: text,
  endpointId: text,
  network: text,
  method: text,
  calls: whole,
  requests: whole,
  errors: whole,
  refusals: whole,
})
const created = exactly({
  accountId: text,
  name: text,
  plan: text,
  dashboardToken: { type: 'string', pattern: '^tgd_' },
  endpoint,
})
const listing = exactly({
  total: whole,
  endpoints: listOf(
    atLeast({
      ...endpointMembers,
      requestCount: whole,
      ruConsumed: whole,
      callCount: whole,
      createdAt: whole,
    }),
  ),
})

const ajv = new Ajv({ strict: false, allErrors: true })
const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  methods: fewMethods,
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
})
const access = await createAccess(gateway, 'free', 'alpha')
await access.call('web3_sha3', ['0x00'])
const { accountId, endpointId } = access

/** In this order: later ones live on what earlier ones did. */
const outputs: [args: string[], schema: Schema, extra?: Record<string, unknown>][] = [
  [['check'], checked, { ok: true, problems: [], counts: { networks: 1, routes: 1, plans: 3 } }],
  [['dump'], { type: 'object' }],
  [['account', 'create', 'json', '--plan', 'free'], created, { name: 'json', plan: 'free' }],
  [
    ['account', 'create', 'other', '--plan', 'paid', '--chain', 'alpha'],
    created,
    { endpoint: { chain: 'alpha' } },
  ],
  [['account', 'list'], listOf(account)],
  [['account', 'set-plan', accountId, 'paid'], {}],
  [['account', 'suspend', accountId], {}],
  [['account', 'resume', accountId], {}],
  [['account', 'rotate-token', accountId], { type: 'object' }],
  [['endpoint', 'list', '--account', accountId], listing, { total: 1 }],
  [
    ['endpoint', 'create', '--account', accountId, '--chain', 'alpha'],
    atLeast(endpointMembers),
    { chain: 'alpha' },
  ],
  [['endpoint', 'deactivate', endpointId], {}],
  [['endpoint', 'activate', endpointId], {}],
  [['usage'], listOf(usageRow)],
  [
    ['usage', '--account', accountId, '--by', 'day', '--from', '0'],
    listOf(usageRow),
    [{ accountId, endpointId, network: 'alpha', method: 'web3_sha3', calls: 1, requests: 1 }] as never,
  ],
  [['usage', '--account', accountId, '--to', '1'], { const: [] }],
  [['endpoint', 'delete', endpointId], {}],
  [
    ['explain', 'alpha', 'web3_sha3'],
    explanation,
    { outcome: 'forward', routes: [{ id: 'alpha-a', able: true }] },
  ],
  [
    ['explain', 'alpha', 'eth_chainId'],
    explanation,
    { live: true, outcome: 'answer', rule: { cost: 1, tier: 'any' } },
  ],
  [
    ['explain', 'alpha', 'nope'],
    explanation,
    { live: true, outcome: 'refuse', reason: 'method_not_found', rule: null },
  ],
  [
    ['explain', 'alpha', 'debug_traceBlockByNumber', '--plan', 'free'],
    explanation,
    {
      plan: 'free',
      outcome: 'refuse',
      reason: 'plan_required',
      rule: { cost: 20, tier: 'paid', needs: ['debug'] },
    },
  ],
  [
    ['explain', 'alpha', 'debug_traceBlockByNumber', '--plan', 'paid', '--params', '["latest"]'],
    explanation,
    { outcome: 'refuse', reason: 'capability_missing', routes: [{ id: 'alpha-a', able: false, why: /\S/ }] },
  ],
  [
    [
      'explain',
      'alpha',
      'eth_getBalance',
      '--params',
      '["0xabababababababababababababababababababab","0x1"]',
      '--head',
      '5000',
    ],
    explanation,
    { outcome: 'refuse', reason: 'capability_missing' },
  ],
]

/** Holds what one command prints against its schema. */
const hold = ([args, schema, extra]: (typeof outputs)[number]) =>
  t.test(`${args.join(' ')} --json`, async t => {
    const { code, stdout, stderr } = await run([...args, '--config', gateway.dir, '--json'])
    t.equal(stderr, '')
    const value: any = JSON.parse(stdout)
    t.equal(code, value.outcome === 'refuse' ? 1 : 0)
    const valid = ajv.validate(schema, value)
    t.ok(valid, `${ajv.errorsText()}: ${stdout.slice(0, 2000)}`)
    if (extra !== undefined) t.match(value, extra)
    t.notOk(stdout.includes('operator-secret'), 'no upstream URL')
    if (args[0] !== 'endpoint') t.notOk(stdout.includes(access.key), 'no key that was not asked for')
  })
const [explaining, changing] = [true, false].map(wanted =>
  outputs.filter(([[command]]) => (command === 'explain') === wanted),
)
for (const output of changing!) await hold(output)
// Nothing of these changes anything.
t.jobs = 3
await Promise.all(explaining!.map(hold))
t.jobs = 1

t.test('explain says that it did not ask a running gateway', async t => {
  await gateway.stop()
  const { code, stdout } = await run(['explain', 'alpha', 'web3_sha3', '--config', gateway.dir, '--json'])
  t.equal(code, 0)
  t.match(JSON.parse(stdout), { live: false, outcome: 'forward' })
  const human = await run(['explain', 'alpha', 'web3_sha3', '--config', gateway.dir])
  t.equal(human.code, 0)
  t.match(human.stdout, /alpha-a/)
})
