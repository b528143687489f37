import t from 'tap'
import { explain } from '../../src/call/explain/explain.ts'
import type { Question } from '../../src/call/explain/question.ts'
import type { LiveView } from '../../src/call/explain/turns.ts'
import { snapshotOf } from '../support/snapshot.ts'

const routes = `
routes:
  - { id: plain, network: eth, http: "http://127.0.0.1:1" }
  - { id: rich, network: eth, http: "http://127.0.0.1:1", capabilities: [archive, trace] }
  - { id: off, network: eth, http: "http://127.0.0.1:1", enabled: false }
`
const methods = `
families:
  evm:
    eth_chainId: { answer: chainId }
    eth_call: { block: { at: 1, kind: ref, omitted: latest }, reads: state, params: [1, 4] }
    trace_block: { cost: 20, tier: paid, needs: [trace] }
`

const view: LiveView = {
  firstKept: () => null,
  whyNot: id => (id === 'rich' ? 'it is behind' : null),
  whyDown: () => null,
  lackedBy: () => null,
  heldTo: () => null,
  refusesBatches: () => null,
  lastFailure: () => null,
  whyNoSocket: () => null,
  waits: () => null,
  contenders: () => ['plain'],
  head: () => null,
  cache: { recall: () => ({ status: 'miss', kept: null, keepable: null }), final: () => null },
}

t.test('the decision for a call, and what speaks against each route', async t => {
  const snapshot = await snapshotOf(t, { routes, methods })
  const network = snapshot.networks['eth']!
  const call = { network, method: 'eth_call', plan: 'free', params: null, head: null, management: null }
  const ask = (question: Partial<Question>) => explain({ ...call, ...question }, snapshot, null).explanation
  t.strictSame(ask({}), {
    network: 'eth',
    method: 'eth_call',
    plan: 'free',
    live: false,
    outcome: 'forward',
    rule: { match: 'eth_call', cost: 1, tier: 'any', needs: [] },
    routes: [
      { id: 'plain', able: true },
      { id: 'rich', able: true },
      { id: 'off', able: false, why: 'it is not enabled' },
    ],
    share: 'not shared: only methods with retry: safe are',
  })
  t.match(ask({ params: '[{},"0x1"]', head: 1000 }), {
    outcome: 'forward',
    routes: [
      { id: 'plain', able: false, why: 'the call reads state older than it keeps' },
      { id: 'rich', able: true },
      {},
    ],
  })
  t.match(ask({ method: 'eth_chainId' }), { outcome: 'answer' })
  t.match(ask({ method: 'trace_block' }), { outcome: 'refuse', reason: 'plan_required', rule: { cost: 20 } })
  t.match(ask({ method: 'trace_block', plan: 'paid' }), {
    outcome: 'forward',
    routes: [{ id: 'plain', why: 'it lacks the capability "trace"' }, { id: 'rich', able: true }, {}],
  })
  t.match(ask({ method: 'nope' }), { outcome: 'refuse', reason: 'method_not_found', rule: null, routes: [] })
  t.match(ask({ params: '[]' }), { outcome: 'refuse', reason: 'invalid_params' })
  const { explanation: live } = explain({ ...call, head: 1 }, snapshot, view)
  t.match(live, {
    live: true,
    routes: [{ id: 'plain', able: true }, { id: 'rich', able: false, why: 'it is behind' }, {}],
  })
})

t.test('routes that lack the method come last', async t => {
  const snapshot = await snapshotOf(t, { routes, methods })
  const network = snapshot.networks['eth']!
  const call = { network, method: 'eth_call', plan: 'free', params: null, head: 1, management: null }
  const told = (lackedBy: LiveView['lackedBy']) => {
    const live = { ...view, whyNot: () => null, contenders: someOf, lackedBy }
    const { explanation, details } = explain(call, snapshot, live)
    const turns = details.turns.routes.map(({ id, when }) => `${id} ${when}`)
    return { outcome: explanation.outcome, why: explanation.routes.map(({ why }) => why ?? null), turns }
  }
  const lacking = 'it answered within the last 10 minutes that it does not have the method'
  t.strictSame(
    told(() => 'one caller'),
    {
      outcome: 'forward',
      why: [null, null, 'it is not enabled'],
      turns: ['plain next', 'rich next'],
    },
    'others than that caller are sent there',
  )
  t.strictSame(
    told(id => (id === 'plain' ? 'everybody' : null)),
    {
      outcome: 'forward',
      why: [lacking, null, 'it is not enabled'],
      turns: ['plain later', 'rich next'],
    },
  )
  t.strictSame(
    told(() => 'everybody'),
    {
      outcome: 'forward',
      why: [lacking, lacking, 'it is not enabled'],
      turns: ['plain next', 'rich next'],
    },
    'one of them is asked all the same',
  )
})

/** Any of those that are there. */
function someOf(ids: readonly string[]): readonly string[] | 'none' {
  return ids.length === 0 ? 'none' : ids
}
