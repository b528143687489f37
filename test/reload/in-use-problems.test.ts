import t from 'tap'
import { inUseProblems } from '../../src/reload/in-use-problems.ts'
import type { InUse } from '../../src/reload/in-use-problems.ts'
import type { Places } from '../../src/snapshot/load-snapshot.ts'

const places = { plans: { line: 1, column: 2 }, networks: { line: 3, column: 4 } } as unknown as Places
type Asked = Parameters<typeof inUseProblems>[0]

/** What is found of these plans and networks when accounts have others: place, severity, sentence and hint of each. */
function found(
  has: {
    readonly plans?: readonly string[]
    readonly networks?: readonly string[]
    readonly acknowledge?: readonly string[]
  },
  uses: { readonly plans?: Record<string, readonly string[]>; readonly networks?: Record<string, number> },
) {
  const { plans = [], networks = [], acknowledge = [] } = has
  const asked = {
    plans: plans.map(name => ({ name })),
    networks: networks.map(slug => ({ slug })),
    gateway: { acknowledge },
  } as unknown as Asked
  const inUse: InUse = {
    plans: () => Object.keys(uses.plans ?? {}),
    accountsWith: plan => ({ count: uses.plans![plan]!.length, first: uses.plans![plan]!.slice(0, 3) }),
    networks: () => Object.keys(uses.networks ?? {}),
    endpointsOn: network => uses.networks![network]!,
  }
  return inUseProblems(asked, inUse, places, 'error').map(
    ({ file, line, severity, message, hint }) => `${file}:${line} ${severity} ${message} (${hint ?? ''})`,
  )
}

t.test('what is there is no problem', t => {
  t.strictSame(found({}, {}), [])
  t.strictSame(
    found({ plans: ['free'], networks: ['eth'] }, { plans: { free: ['a'] }, networks: { eth: 1 } }),
    [],
  )
  t.end()
})

t.test('plans that accounts have may not go, and who has them is said once', t => {
  const how = 'move them to another plan first (tollgate account set-plan <id> <plan>)'
  t.strictSame(found({ plans: ['paid'] }, { plans: { paid: ['x'], free: ['a'] } }), [
    `plans.yaml:1 error accounts use a plan that is not here: "free" (${how}: 1 account has "free": a)`,
  ])
  t.strictSame(found({}, { plans: { free: ['a', 'b', 'c'], old: ['d', 'e', 'f', 'g'] } }), [
    `plans.yaml:1 error accounts use plans that are not here: "free", "old" (${how}: ` +
      '3 accounts have "free": a, b, c; 4 accounts have "old": d, e, f, …)',
  ])
  t.end()
})

t.test('a network that endpoints are on may not go unless that is acknowledged', t => {
  const how = (slug: string, whom: string, whose: string) =>
    `move ${whom} to another one first (tollgate endpoint move --from ${slug} --to <network>), or acknowledge that ${whose} calls are refused`
  t.strictSame(found({ networks: ['eth'] }, { networks: { eth: 9, one: 1, two: 2 } }), [
    `networks.yaml:3 error 1 endpoint is on the network "one", which is not here (${how('one', 'it', 'its')})`,
    `networks.yaml:3 error 2 endpoints are on the network "two", which is not here (${how('two', 'them', 'their')})`,
  ])
  const acknowledge = ['endpoints-without-network']
  t.strictSame(found({ networks: ['eth'], acknowledge }, { networks: { eth: 9, one: 1 } }), [])
  t.end()
})
