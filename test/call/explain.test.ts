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
  const view: LiveView = {
    firstSlot: () => null,
    whyNot: id => (id === 'rich' ? 'it is behind' : null),
    whyDown: () => null,
    lastFailure: () => null,
    whyNoSocket: () => null,
    waits: () => null,
    contenders: () => ['plain'],
    head: () => null,
    cache: { recall: () => ({ status: 'miss', kept: null, keepable: null }), final: () => null },
  }
  const { explanation: live } = explain({ ...call, head: 1 }, snapshot, view)
  t.match(live, {
    live: true,
    routes: [{ id: 'plain', able: true }, { id: 'rich', able: false, why: 'it is behind' }, {}],
  })
})
