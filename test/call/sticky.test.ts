import t from 'tap'
import type { Caller } from '../../src/call/caller.ts'
import type { Context } from '../../src/call/context.ts'
import type { Decided } from '../../src/call/decide.ts'
import { findFilter, keepFilter } from '../../src/call/node/sticky.ts'
import { elementsOf } from '../../src/jsonrpc/elements.ts'
import { refused } from '../../src/call/reply/answer.ts'
import { refuse } from '../../src/refusal/refusal.ts'
import { TestClock } from '../support/test-clock.ts'

const caller = { network: { slug: 'eth' }, payer: { endpoint: { id: 'ep' } } } as unknown as Caller

/** A gateway that knows the filter "0xf" of this endpoint on a route, which may be out; `did` is what was asked of it. */
function scene({ isOut = false } = {}) {
  const did: string[] = []
  const filters = {
    find: (id: string, owner: string, network: string) =>
      id === '"0xf"' && owner === 'ep' && network === 'eth' ? { route: 'a', upstreamId: '"0x77"' } : null,
    remove: (id: string) => did.push(`remove ${id}`),
    add: ({ owner, network, route, upstreamId }: Record<string, string>) => {
      did.push(`add ${owner} ${network} ${route} ${upstreamId}`)
      return '"ours"'
    },
  }
  const upstreams = { isOut: (route: string, ms: number) => (did.push(`out ${route} ${ms}`), isOut) }
  const context = { live: { filters, upstreams, clock: new TestClock() } } as unknown as Context
  const find = (params: string, sticky: 'use' | 'end' = 'use') => {
    const row = { rule: { sticky } } as Decided['row']
    return findFilter({ row, params, elements: elementsOf(params) }, caller, context)
  }
  return { context, did, find }
}
const notFound = { kind: 'error', error: '{"code":-32000,"message":"filter not found"}' }

t.test(
  "a call that uses a filter goes to its route, with the node's id in place of ours and nothing else changed",
  t => {
    const { find, did } = scene()
    t.strictSame(find('["0xf"]'), { routes: ['a'], params: '["0x77"]' })
    t.strictSame(find('[ \t"0xf" , {"a":["0xf"]} ]'), { routes: ['a'], params: '["0x77" , {"a":["0xf"]} ]' })
    t.strictSame(did, ['out a 10000', 'out a 10000'])
    t.strictSame(find('["0xf"]', 'end'), { routes: ['a'], params: '["0x77"]' })
    t.equal(did.at(-1), 'remove "0xf"', 'it ends here, whatever its node says')
    t.end()
  },
)

t.test('a filter that is not there is said so in the words of geth', t => {
  const { find, did } = scene()
  for (const params of ['["0xe"]', '[]', 'null', '{}', '[["0xf"]]']) {
    t.strictSame(find(params), notFound, params)
    t.strictSame(find(params, 'end'), { kind: 'result', result: 'false' }, params)
  }
  t.strictSame(did, [])
  t.end()
})

t.test('a filter whose route has been out for ten seconds is gone', t => {
  for (const [sticky, answer] of [
    ['use', notFound],
    ['end', { kind: 'result', result: 'false' }],
  ] as const) {
    const { find, did } = scene({ isOut: true })
    t.strictSame(find('["0xf"]', sticky), answer)
    t.strictSame(did, ['out a 10000', 'remove "0xf"'])
  }
  t.end()
})

t.test('the client gets an id of ours for a filter that was made, and any other answer as it is', t => {
  const { context, did } = scene()
  const made = { kind: 'result', result: '"0x77"' } as const
  t.strictSame(keepFilter(made, 'a', caller, context), { kind: 'result', result: '"ours"' })
  t.strictSame(did, ['add ep eth a "0x77"'])
  const refusal = refused(refuse('no_route'))
  t.equal(keepFilter(refusal, 'a', caller, context), refusal)
  t.equal(keepFilter(made, null, caller, context), made)
  t.equal(did.length, 1)
  t.end()
})
