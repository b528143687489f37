import t from 'tap'
import { message } from '../support/access.ts'
import { createAccesses } from '../support/accesses.ts'
import type { NetworkYaml, RouteYaml } from '../support/config-files.ts'
import { failures } from '../support/faults.ts'
import { startGateway } from '../support/gateway.ts'
import { metric } from '../support/metrics.ts'
import { result } from '../support/node-replies.ts'
import { routesLookedAt } from '../support/route-status.ts'
import { startNode, type ScriptedNode } from '../support/scripted-node.ts'
import { steadyLoad, type LoadedCall } from '../support/steady-load.ts'
import { until } from '../support/until.ts'

const chainId = 1001
const methods = { test_safe: { retry: 'safe', params: [1, 1] }, test_never: { params: [1, 1] } }
const networks: Record<string, NetworkYaml> = {}
const routes: RouteYaml[] = []

/** Declares a network with three equal routes, the first so many of which end a silence themselves. */
async function declare(slug: string, impatient: number): Promise<ScriptedNode[]> {
  networks[slug] = { chainId, methods }
  const nodes: ScriptedNode[] = []
  for (const [index, letter] of ['a', 'b', 'c'].entries()) {
    const node = await startNode(t, { chainId })
    node.otherwise(result('"ok"'))
    const timeout = index < impatient ? { timeout: '500ms' } : {}
    routes.push({ id: `${slug}-${letter}`, network: slug, http: node.url, ...timeout })
    nodes.push(node)
  }
  return nodes
}

/** Ways in which one of the three fails, three at a time so that they take no longer than they must. */
const groups = [
  ['refused', 'reset-before', 'hang'],
  ['http-500', 'http-429', 'page'],
  ['limit-32005', 'cut-close', 'drip'],
]
const all = ['http-503', 'reset-mid', 'hang']
const nodes = new Map<string, ScriptedNode[]>()
for (const slug of groups.flat()) nodes.set(slug, await declare(slug, 1))
for (const name of all) nodes.set(`all-${name}`, await declare(`all-${name}`, 3))
const gateway = await startGateway(t, { networks, routes })
const accesses = await createAccesses(gateway, 'paid', Object.keys(networks))
await routesLookedAt(gateway)

/** One call in six must not be repeated; every one can be told from the others at the nodes. */
const isNever = (n: number) => n % 6 === 5
const bodyOf = (n: number) => message(isNever(n) ? 'test_never' : 'test_safe', [n], n)
const isAnswered = ({ status, text }: LoadedCall) => status === 200 && text.includes('"result":"ok"')
const attempts = (slug: string) => metric(gateway, 'tollgate_attempts_total', { network: slug })

/** Calls that are made after the first second of a failure. */
const enough = 400

/** Lets the first route fail in one way under load; gives all calls and when it began to. */
async function failUnderLoad(name: string): Promise<{ calls: LoadedCall[]; since: number }> {
  const [bad] = nodes.get(name)!
  let since = Infinity
  const isOver = (sent: readonly { readonly at: number }[]) => (sent.at(-enough)?.at ?? 0) > since + 1_000
  const load = steadyLoad(accesses.in(name), 300, bodyOf, isOver)
  await until('the load has begun', () => Promise.resolve(bad!.calls.length > 30))
  since = performance.now()
  if (name === 'refused') await bad!.close()
  else bad!.otherwise(failures[name]!)
  return { calls: await load, since }
}

for (const group of groups) {
  t.test(`one of three routes fails: ${group.join(', ')}`, async t => {
    const seen = await Promise.all(group.map(failUnderLoad))
    const usage = await accesses.usage()
    for (const [index, { calls, since }] of seen.entries()) {
      const name = group[index]!
      const safe = calls.filter(({ body }) => body.includes('test_safe'))
      const later = safe.filter(({ at }) => at > since + 1_000)
      t.ok(later.length > enough / 2, `${name}: ${later.length} calls after the first second`)
      const failed = later.filter(call => !isAnswered(call))
      t.ok(failed.length <= later.length / 1000, `${name}: ${failed.length} not answered: ${failed[0]?.text}`)
      const arrivals = new Map<string, number>()
      for (const node of nodes.get(name)!)
        for (const { method, params } of node.calls)
          if (method === 'test_never') arrivals.set(params, (arrivals.get(params) ?? 0) + 1)
      t.ok(arrivals.size > 100, `${name}: ${arrivals.size} calls that must not be repeated`)
      t.same(
        [...arrivals].filter(([, times]) => times > 1),
        [],
        `${name}: none was sent twice`,
      )
      t.same([...new Set(calls.map(({ status }) => status))].filter(isOwn), [], `${name}: HTTP status`)
      const answered = calls.filter(isAnswered).length
      t.same(usage.get(name), { requests: answered, calls: answered }, `${name}: charged what was answered`)
    }
  })
}

/** Whether a status is none that this gateway has for a node's answer or a failed call. */
function isOwn(status: number): boolean {
  return ![200, 502, 503, 504].includes(status)
}

t.test(`all routes fail: ${all.join(', ')}`, async t => {
  await Promise.all(
    all.map(async name => {
      const slug = `all-${name}`
      const own = nodes.get(slug)!
      for (const node of own) node.otherwise(failures[name]!)
      const begin = performance.now()
      const calls = await steadyLoad(accesses.in(slug), 200, bodyOf, sent => sent.length >= 600)
      const seconds = (performance.now() - begin) / 1000
      const sending = (Math.max(...calls.map(({ at }) => at)) - begin) / 1000
      t.ok(calls.length / sending > 100, `${name}: ${Math.round(calls.length / sending)} calls a second`)
      const arrived = own.reduce((sum, node) => sum + node.calls.length, 0)
      const most = Math.ceil(1.2 * calls.length + 10 * seconds)
      t.ok(arrived <= most, `${name}: ${arrived} arrived for ${calls.length} calls`)
      t.ok(arrived > calls.length, `${name}: some were repeated`)
      t.equal(await attempts(slug), arrived, `${name}: attempts told`)
      t.same(calls.filter(isAnswered), [])
      t.same([...new Set(calls.map(({ status }) => status))].filter(isOwn), [], `${name}: HTTP status`)
      t.same((await accesses.usage()).get(slug), { requests: 0, calls: 0 })
    }),
  )
})
