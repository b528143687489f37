import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

/** What a free account may not call: every name has a rule of its own. */
const names = Array.from({ length: 60 }, (_, i) => `paid_method${i}`)

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: `notification: { cost: 1 }
families:
  evm:
    eth_chainId: { answer: chainId, params: [0, 0] }
${names.map(name => `    ${name}: { tier: paid }`).join('\n')}
`,
})
const access = await createAccess(gateway, 'free', 'alpha')

interface Row {
  readonly method: string
  readonly refusals: number
  readonly refusalsByReason: Readonly<Record<string, number>>
}

/** Rows of this hour and the one before, with their reasons. */
async function rows(): Promise<Row[]> {
  const now = Math.floor(Date.now() / 1000)
  const query = { by: 'day', from: now - 3_600, to: now + 3_600, detail: true }
  return (await access.managed('service_usage', [query])).rows as Row[]
}

t.test('refused calls of whatever names make a few rows an hour, and each is counted', async t => {
  const calls = [
    ...names.map(name => message(name)),
    ...names.map(name => message(`unknown_${name}`)),
    ...names.map(name => message(name, 'not params')),
  ]
  for (const call of calls) await access.post(call)
  const found = await until('all refusals are counted', async () => {
    const now = await rows()
    const refusals = now.reduce((sum, row) => sum + row.refusals, 0)
    return refusals === calls.length ? now : false
  })
  t.ok(found.length <= 9, `${found.length} rows`)
  const other = found.find(({ method }) => method === 'other')
  t.match(other?.refusalsByReason, { method_not_found: names.length, plan_required: Number })
  const named = found.filter(({ method }) => method !== 'other')
  for (const row of named) t.match(row.refusalsByReason, { plan_required: 1 }, row.method)
})

t.test('a method that was charged this hour has its refusals beside its calls', async t => {
  await access.call('eth_chainId')
  await access.call('eth_chainId', [1, 2, 3])
  const row = await until('the refusal is counted', async () => {
    const found = (await rows()).find(({ method }) => method === 'eth_chainId')
    return found?.refusals === 1 ? found : false
  })
  t.match(row, { calls: 1, refusals: 1, refusalsByReason: { invalid_params: 1 } })
})
