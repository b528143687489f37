/**
 * A gateway that sends several calls in one body and one that does not, before the same nodes: they answer batches byte for byte the same, and
 * charge the same. `RUNS=10000` for more of it.
 */
import { Agent } from 'node:http'
import t from 'tap'
import { message } from '../support/access.ts'
import type { Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startAnvil } from '../support/anvil.ts'
import { bodiesAt, takeBodies } from '../support/batching-node.ts'
import { startGateway } from '../support/gateway.ts'
import { metric } from '../support/metrics.ts'
import { answerFrom, MovingChain } from '../support/moving-chain.ts'
import { Random } from '../support/random.ts'
import { startNode } from '../support/scripted-node.ts'

const runs = Number(process.env['RUNS'] ?? 150)
const seed = Number(process.env['SEED'] ?? 1)

const chainId = 31_337
const chain = new MovingChain(0x1000)
const nodes = await Promise.all([1, 2].map(() => startNode(t, { chainId })))
for (const node of nodes) {
  answerFrom(chain, node)
  takeBodies(node)
}
const anvil = await startAnvil(t)
const [from, to] = (await anvil.call('eth_accounts')).result as [string, string]
const sent: string[] = []
for (let n = 0; n < 10; n += 1)
  sent.push((await anvil.call('eth_sendTransaction', [{ from, to, value: `0x${n + 1}` }])).result as string)

const start = (batch: Readonly<Record<string, unknown>>) =>
  startGateway(t, {
    networks: { alpha: { chainId }, real: { chainId } },
    routes: [
      ...nodes.map(({ url }, i) => ({
        id: `alpha-${i}`,
        network: 'alpha',
        http: url,
        capabilities: ['archive'],
        ...batch,
      })),
      { id: 'real-a', network: 'real', http: anvil.url, capabilities: ['archive'], ...batch },
    ],
  })
const gateways = await Promise.all([start({ batch: 20 }), start({})])
for (const gateway of gateways) for (const slug of ['alpha', 'real']) await gateway.headKnown(slug)
const agent = new Agent({ keepAlive: true })
t.teardown(() => {
  agent.destroy()
})

const random = new Random(seed)
const below = (n: number): number => random.below(n)
const one = <T>(of: readonly T[]): T => of[below(of.length)]!
const number = (head: number): string => `0x${(head - below(12) + 2).toString(16)}`

/** A call that both kinds of nodes know, or that nobody does. */
function call(head: number, hashes: readonly string[]): string {
  const [method, params] = one([
    () => ['eth_getBlockByNumber', [one([number(head), 'latest']), one([true, false])]] as const,
    () => ['eth_getTransactionReceipt', [one(hashes)]] as const,
    () => ['eth_getTransactionByHash', [one(hashes)]] as const,
    () => ['eth_getBlockByHash', [one(hashes), false]] as const,
    () => ['eth_getLogs', [{ fromBlock: number(head), toBlock: number(head) }]] as const,
    () => ['eth_call', [{ to: one([to, '0xdead']), data: '0x' }, one(['latest', number(head)])]] as const,
    () => ['eth_getBalance', [one([from, to]), one(['latest', number(head)])]] as const,
    () => [one(['eth_blockNumber', 'eth_chainId', 'eth_nope', 'trace_block', 'net_version']), []] as const,
    () => ['eth_getBalance', one([[], ['0x00', 'soon'], ['0x00', {}], ['zz', 'latest']])] as const,
    () => ['eth_sendRawTransaction', ['0x00']] as const,
    () => ['eth_newBlockFilter', [1]] as const,
  ])()
  const text = message(method, params, one([1, 'a', 18_446_744_073, null, '\u00e9']))
  if (below(20) === 0) return one(['1', '{}', '{"jsonrpc":"2.0","method":"eth_chainId"}'])
  return text
}

async function answered(access: Access, body: string): Promise<string> {
  const { status, text } = await access.post(body, { agent })
  return `${status} ${text.replaceAll(/"requestId":"[\w-]+"/g, '"requestId":""')}`
}

const scenes = [
  [
    'alpha',
    0x1000,
    () => [...chain.hashes.slice(-8), ...[1, 2, 3].map(n => chain.transaction(0x1000 - n, 1))],
  ],
  ['real', 10, () => [...sent, `0x${'0'.repeat(64)}`]],
] as const
for (const [slug, head, hashes] of scenes)
  t.test(`${runs} batches on ${slug}, seed ${seed}`, async t => {
    const accesses = await Promise.all(gateways.map(gateway => createAccess(gateway, 'free', slug)))
    let differing = 0
    let items = 0
    for (let done = 0; done < runs && differing < 3; done += 5)
      await Promise.all(
        Array.from({ length: 5 }, async () => {
          const calls = Array.from({ length: 1 + below(60) }, () => call(head, hashes()))
          items += calls.length
          const body = `[${calls.join(',')}]`
          const [ours, theirs] = await Promise.all(accesses.map(access => answered(access, body)))
          if (ours === theirs) return
          differing += 1
          t.equal(ours, theirs, body)
        }),
      )
    t.equal(differing, 0)
    const [ours, theirs] = await Promise.all(accesses.map(access => access.usage()))
    t.strictSame(ours, theirs, 'and both have charged the same')
    t.comment(`${items} items, ${ours!.calls} of them charged`)
  })

t.test('one of them has sent several calls in one body', async t => {
  const bodies = nodes.flatMap(bodiesAt)
  t.ok(bodies.length > runs / 2, `${bodies.length} bodies`)
  const refused = { result: 'batch_refused' }
  t.equal(await metric(gateways[0], 'tollgate_attempts_total', refused), 0)
})
