import t from 'tap'
import { keccak256 } from 'ethers'
import { message } from '../support/access.ts'
import { createAccesses } from '../support/accesses.ts'
import type { NetworkYaml, RouteYaml } from '../support/config-files.ts'
import { failures, fault, tellsNothing } from '../support/faults.ts'
import { startGateway } from '../support/gateway.ts'
import { result, type Handler } from '../support/node-replies.ts'
import { routesLookedAt } from '../support/route-status.ts'
import { startNode, type ScriptedNode } from '../support/scripted-node.ts'
import { randomTransaction } from '../support/solana-transactions.ts'

/** What becomes of one transaction: how the first route fails, what the second one says, and what the client gets. */
interface Case {
  /** A name of `failures`; `refused` when nothing listens; null when the second route is the only one. */
  readonly first: string | null
  readonly code: number
  readonly says: string
  /** Whether the second node knows the transaction when it is asked for it; absent when it need not be asked. */
  readonly found?: boolean
  readonly gets: 'hash' | 'error'
  /** Default evm. */
  readonly family?: 'solana'
  /** The transaction, where it is not one whose hash is known. */
  readonly raw?: string
  /** The encoding that a Solana client names; default base58, unnamed. */
  readonly encoding?: 'base64'
}

/** How nodes say that they have a transaction already. */
const known: readonly (readonly [code: number, says: string])[] = [
  [-32000, 'already known'],
  [-32003, 'already known'],
  [-32000, 'known transaction: 4a1c'],
  [-32000, 'Known transaction'],
  [-32010, 'AlreadyKnown'],
  [-32000, 'ALREADY_EXISTS: already known'],
  [-32010, 'Transaction with the same hash was already imported.'],
  [-32000, 'transaction already imported'],
  [-32000, 'already in mempool'],
  [-32000, 'tx already in mempool'],
]
const lost = ['reset-before', 'reset-mid', 'cut-close', 'hang', 'drip', 'page', 'empty', 'http-500']

const cases: Record<string, Case> = {}
for (const [index, [code, says]] of known.entries())
  cases[`known-${index}`] = { first: 'reset-mid', code, says, gets: 'hash' }
for (const first of lost)
  cases[`after-${first}`] = { first, code: -32000, says: 'already known', gets: 'hash' }
for (const [index, says] of ['nonce too low', 'nonce too low: next nonce 8, tx nonce 7'].entries()) {
  for (const found of [true, false])
    cases[`nonce-${index}-${found ? 'found' : 'missing'}`] = {
      first: 'reset-mid',
      code: -32000,
      says,
      found,
      gets: found ? 'hash' : 'error',
    }
}
for (const first of ['refused', null]) {
  const name = first ?? 'alone'
  cases[`${name}-known`] = { first, code: -32000, says: 'already known', gets: 'error' }
  cases[`${name}-nonce`] = { first, code: -32000, says: 'nonce too low', gets: 'error' }
}
cases['funds'] = { first: 'reset-mid', code: -32000, says: 'insufficient funds for gas', gets: 'error' }

// ZKsync's own type, whose hash is not that of its bytes.
for (const [says, index] of [
  ['already known', 0],
  ['nonce too low', 1],
] as const)
  cases[`own-type-${index}`] = {
    first: 'reset-mid',
    code: -32000,
    says,
    gets: 'error',
    raw: `0x71f8${'c5'.repeat(120)}`,
  }

/** How a Solana node says it, and what it says of any other transaction. */
const processed = 'Transaction simulation failed: This transaction has already been processed'
const solana = { family: 'solana', code: -32002 } as const
for (const first of ['reset-before', 'hang', 'http-500', 'page'])
  cases[`sol-after-${first}`] = { ...solana, first, says: processed, gets: 'hash' }
cases['sol-base64'] = { ...solana, first: 'reset-mid', encoding: 'base64', says: processed, gets: 'hash' }
// What turned it down has not taken it: that it was processed is then news, and no answer to this call.
const turnsDown = { 'http-429': failures['http-429']!, unknown: fault(-32002, 'Blockhash not found') }
for (const first of ['refused', null, ...Object.keys(turnsDown)])
  cases[`sol-${first ?? 'alone'}`] = { ...solana, first, says: processed, gets: 'error' }
cases['sol-other'] = {
  ...solana,
  first: 'reset-mid',
  gets: 'error',
  says: 'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
}

const chainId = 1001
const raw = `0x02f8${'c5'.repeat(120)}`
const random = randomTransaction()
const kinds = {
  evm: { method: 'eth_sendRawTransaction', params: [raw], hash: keccak256(raw) },
  solana: { method: 'sendTransaction', params: [random.base58], hash: random.signature },
}
const base64 = { ...kinds.solana, params: [random.base64, { encoding: 'base64' }] }
const kindOf = ({ family, encoding, raw: own }: Case) => {
  if (encoding !== undefined) return base64
  const kind = kinds[family ?? 'evm']
  return own === undefined ? kind : { ...kind, params: [own] }
}
const networks: Record<string, NetworkYaml> = { 'same-route': { chainId } }
const routes: RouteYaml[] = []
/** Routes at whose end nothing listens. */
const down: string[] = []
const nodes = new Map<string, { bad: ScriptedNode; second: ScriptedNode }>()
for (const [slug, one] of Object.entries(cases)) {
  const { first, code, says, found, family } = one
  const { method, hash } = kindOf(one)
  const broken = { ...failures, ...turnsDown }[first ?? ''] ?? failures['empty']!
  const bad = (await startNode(t, { chainId })).on(method, broken)
  const second = (await startNode(t, { chainId })).on(method, fault(code, says))
  second.on('eth_getTransactionByHash', result(found === true ? `{"hash":"${hash}"}` : 'null'))
  nodes.set(slug, { bad, second })
  networks[slug] = family === undefined ? { chainId } : { family, chainId: 'solana-test' }
  const http = first === 'refused' ? 'http://127.0.0.1:1' : bad.url
  if (first === 'refused') down.push(`${slug}-a`)
  if (first !== null) routes.push({ id: `${slug}-a`, network: slug, http, timeout: '300ms' })
  routes.push({ id: `${slug}-b`, network: slug, http: second.url, priority: 2 })
}
const forgetful = await startNode(t, { chainId })
const { method: send, hash: own } = kinds.evm
const taken: Handler = (request, response) => {
  const answer = forgetful.count(send) === 1 ? failures['reset-before']! : fault(-32000, 'already known')
  return answer(request, response)
}
forgetful.on(send, taken)
routes.push({ id: 'same-route-a', network: 'same-route', http: forgetful.url })

const gateway = await startGateway(t, { networks, routes })
const accesses = await createAccesses(gateway, 'paid', Object.keys(networks))
await routesLookedAt(gateway, down)
const slugs = Object.keys(networks)
const replies = new Map(
  await Promise.all(
    slugs.map(async slug => {
      const { method, params } = kindOf(cases[slug] ?? cases['alone-known']!)
      return [slug, await accesses.in(slug).post(message(method, params, 'tx'))] as const
    }),
  ),
)
const usage = await accesses.usage()

for (const [slug, one] of Object.entries(cases)) {
  const { first, code, says, found, gets } = one
  const { method, params: sent, hash } = kindOf(one)
  t.test(`${slug}: "${says}" becomes the ${gets}`, t => {
    const { bad, second } = nodes.get(slug)!
    const { status, text } = replies.get(slug)!
    const told = gets === 'hash' ? { result: hash } : { error: { code, message: says } }
    t.equal(status, 200)
    t.strictSame(JSON.parse(text), { jsonrpc: '2.0', id: 'tx', ...told })
    tellsNothing(t, text, 'the reply', [bad.port, second.port])
    t.equal(second.count(method), 1, 'sent to the second node')
    for (const { params } of [...bad.calls, ...second.calls].filter(call => call.method === method))
      t.equal(params, JSON.stringify(sent))
    if (first === 'refused' || first === null) t.equal(bad.count(method), 0)
    else t.ok([1, 2].includes(bad.count(method)), `sent to the first node: ${bad.count(method)}`)
    const lookups = second.calls.filter(call => call.method === 'eth_getTransactionByHash')
    t.strictSame(
      lookups.map(({ params }) => JSON.parse(params) as unknown),
      found === undefined ? [] : [[hash]],
      'the node is asked for the transaction where its word is not enough',
    )
    t.same(usage.get(slug), { requests: 1, calls: 1 })
    t.end()
  })
}

t.test('a route that lost its reply and has the transaction', t => {
  t.strictSame(JSON.parse(replies.get('same-route')!.text), { jsonrpc: '2.0', id: 'tx', result: own })
  t.equal(forgetful.count(send), 2)
  t.same(usage.get('same-route'), { requests: 1, calls: 1 })
  t.end()
})
