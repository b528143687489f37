import t from 'tap'
import type { Live } from '../../src/call/context.ts'
import { healthOf } from '../../src/call/health.ts'
import type { Network } from '../../src/snapshot/types.ts'

t.test('a network is well while one route can serve, else as far behind as the best is', t => {
  const health = (
    family: string,
    routes: Record<string, readonly [why: string | null, behind: number | null]>,
  ) => {
    const network = { family, routes: Object.keys(routes).map(id => ({ id })) } as unknown as Network
    const upstreams = {
      whyUnhealthy: (_: unknown, id: string) => routes[id]![0],
      of: () => Object.values(routes).map(([, slotsBehind]) => ({ slotsBehind })),
    }
    const live = { upstreams, clock: { monotonic: () => 0 } } as unknown as Live
    const answer = healthOf(network, live)
    return answer.kind === 'result'
      ? answer.result
      : answer.kind === 'error'
        ? (JSON.parse(answer.error) as unknown)
        : null
  }
  t.equal(health('solana', { a: ['down', null], b: [null, 900] }), '"ok"')
  t.match(health('solana', { a: ['behind', 50], b: ['behind', 7], c: ['down', null] }), {
    code: -32005,
    data: { numSlotsBehind: 7 },
  })
  t.match(health('solana', { a: ['down', null] }), { data: { numSlotsBehind: null } })
  t.match(health('solana', {}), { data: { numSlotsBehind: null } })
  t.equal(health('evm', { a: ['down', null] }), 'true')
  t.end()
})
