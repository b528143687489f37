/** A null for what the chain has is a miss: another route is asked, archives first. A route may say which blocks it keeps. */
import t from 'tap'
import type { Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
import { startGateway } from '../support/gateway.ts'
import { result } from '../support/node-replies.ts'
import { startNode, type ScriptedNode } from '../support/scripted-node.ts'

const chainId = 1001
const head = 1_000_000
const hash = `0x${'ab'.repeat(32)}`
const address = `0x${'cd'.repeat(20)}`

/** What is asked for of an old block, or of something that is on one; and what a node says that has pruned it. */
const byNumber: readonly (readonly [method: string, params: readonly unknown[]])[] = [
  ['eth_getBlockByNumber', ['0x10', false]],
  ['eth_getHeaderByNumber', ['0x10']],
  ['eth_getBlockReceipts', ['0x10']],
  ['eth_getBlockTransactionCountByNumber', ['0x10']],
  ['eth_getUncleCountByBlockNumber', ['0x10']],
  ['eth_getTransactionByBlockNumberAndIndex', ['0x10', '0x0']],
  ['eth_getRawTransactionByBlockNumberAndIndex', ['0x10', '0x0']],
]
const byHash: typeof byNumber = [
  ['eth_getBlockByHash', [hash, false]],
  ['eth_getBlockReceipts', [hash]],
  ['eth_getBlockTransactionCountByHash', [hash]],
  ['eth_getTransactionByBlockHashAndIndex', [hash, '0x0']],
  ['eth_getTransactionByHash', [hash]],
  ['eth_getTransactionReceipt', [hash]],
]

interface Said {
  /** The result of each node to everything; the first one is asked first. */
  readonly results: readonly string[]
  readonly more?: readonly Readonly<Record<string, unknown>>[]
}
const archive = { capabilities: ['archive'] }
const slugs: Readonly<Record<string, Said>> = {
  // The archive is the last of three.
  pruned: { results: ['null', 'null', '"found"'], more: [{}, {}, archive] },
  // None says that it is an archive.
  plain: { results: ['null', '"found"'] },
  nowhere: { results: ['null', 'null'], more: [{}, archive] },
  alone: { results: ['null'], more: [archive] },
  from: { results: ['[]', '"found"'], more: [{ history: { from: 900_000 } }, {}] },
  last: { results: ['[]', '"found"'], more: [{ history: { last: 100_000 } }, {}] },
  none: { results: ['[]'], more: [{ history: { from: 900_000 } }] },
}
const nodes = new Map<string, ScriptedNode[]>()
const routes: Record<string, unknown>[] = []
for (const [slug, { results, more = [] }] of Object.entries(slugs)) {
  const own = await Promise.all(results.map(() => startNode(t, { chainId, head })))
  nodes.set(slug, own)
  for (const [i, node] of own.entries()) {
    const said = result(results[i]!)
    for (const [method] of [...byNumber, ...byHash]) node.on(method, said)
    node.on('eth_getLogs', said)
    routes.push({ id: `${slug}-${i}`, network: slug, http: node.url, priority: i + 1, ...more[i] })
  }
}
const gateway = await startGateway(t, {
  networks: Object.fromEntries(Object.keys(slugs).map(slug => [slug, { chainId }])),
  routes: routes as never,
})
const account = await createAccess(gateway, 'paid', 'pruned')
const accesses = new Map<string, Access>()
for (const slug of Object.keys(slugs)) {
  accesses.set(slug, slug === 'pruned' ? account : await account.another(slug))
  await gateway.headKnown(slug)
}

/** The result, and how often each node was asked. */
async function ask(slug: string, method: string, params: readonly unknown[]): Promise<[unknown, number[]]> {
  const own = nodes.get(slug)!
  const before = own.map(node => node.count(method))
  const reply = await accesses.get(slug)!.call(method, params)
  return [
    reply.result ?? reply.error?.data?.reason ?? null,
    own.map((node, i) => node.count(method) - before[i]!),
  ]
}

t.test('an archive is asked next, by number and by hash', async t => {
  for (const [method, params] of [...byNumber, ...byHash])
    t.strictSame(await ask('pruned', method, params), ['found', [1, 0, 1]], method)
})

t.test('by number any other route is asked, as the block is there', async t => {
  for (const [method, params] of byNumber)
    t.strictSame(await ask('plain', method, params), ['found', [1, 1]], method)
  t.strictSame(
    await ask('plain', 'eth_getTransactionReceipt', [hash]),
    [null, [1, 0]],
    'a hash may be of nothing',
  )
  const beyond = `0x${(head + 10).toString(16)}`
  t.strictSame(
    await ask('plain', 'eth_getBlockByNumber', [beyond, false]),
    [null, [1, 0]],
    'and so is what is to come',
  )
})

t.test('null of all is the answer, charged once', async t => {
  const access = accesses.get('nowhere')!
  const before = await access.usage()
  for (const [method, params] of [...byNumber.slice(0, 1), ...byHash.slice(0, 1)])
    t.strictSame(await ask('nowhere', method, params), [null, [1, 1]], method)
  t.strictSame(await ask('alone', 'eth_getBlockByNumber', ['0x10', false]), [null, [1]])
  t.strictSame(await ask('alone', 'eth_getBlockByHash', [hash, false]), [null, [1]])
  t.equal((await access.usage()).requests - before.requests, 2)
})

t.test('a route gets no calls about blocks that it says it does not keep', async t => {
  const logs = (from: string) => [{ fromBlock: from, toBlock: `0x${head.toString(16)}`, address }]
  for (const slug of ['from', 'last']) {
    t.strictSame(await ask(slug, 'eth_getLogs', logs('0x10')), ['found', [0, 1]], slug)
    t.strictSame(await ask(slug, 'eth_getLogs', logs('earliest')), ['found', [0, 1]], slug)
    t.strictSame(await ask(slug, 'eth_getBlockByNumber', ['0x10', false]), ['found', [0, 1]], slug)
    t.strictSame(await ask(slug, 'eth_getLogs', logs(`0x${(950_000).toString(16)}`)), [[], [1, 0]], slug)
  }
  t.strictSame(await ask('none', 'eth_getLogs', logs('0x10')), ['capability_missing', [0]])
  const explained = await run([
    'explain',
    'from',
    'eth_getBlockByNumber',
    '--params',
    '["0x10",false]',
    '--config',
    gateway.dir,
  ])
  t.match(explained.stdout, /from-0 .*the call reads blocks older than it keeps/)
})
