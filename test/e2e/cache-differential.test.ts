/**
 * A gateway that keeps answers and one that does not, before the same chain: they answer byte for byte the same, and charge the same. `RUNS=100000`
 * for the whole of it.
 */
import { Agent } from 'node:http'
import t from 'tap'
import { message } from '../support/access.ts'
import type { Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { answerFrom, deepest, MovingChain } from '../support/moving-chain.ts'
import { Random } from '../support/random.ts'
import { startNode } from '../support/scripted-node.ts'
import { openClient } from '../support/socket-client.ts'

const runs = Number(process.env['RUNS'] ?? 1_500)
const seed = Number(process.env['SEED'] ?? 1)
/** Calls between two moves of the chain. */
const round = 40

const chainId = 1001
const chain = new MovingChain(0x1000)
const nodes = await Promise.all([1, 2].map(() => startNode(t, { chainId })))
for (const node of nodes) answerFrom(chain, node)
const start = (cache: Readonly<Record<string, unknown>>) =>
  startGateway(t, {
    networks: { alpha: { chainId, finality: deepest + 1 } },
    routes: nodes.map(({ url }, i) => ({
      id: `alpha-${i}`,
      network: 'alpha',
      http: url,
      ws: url.replace('http', 'ws'),
      capabilities: ['archive'],
    })),
    gateway: cache,
  })
const [kept, plain] = await Promise.all([start({ cache: { memory: '64KiB', entry: '4KiB' } }), start({})])
const accesses = await Promise.all([kept, plain].map(gateway => createAccess(gateway, 'free', 'alpha')))
const sockets = await Promise.all(accesses.map(access => openClient(t, access)))
for (const gateway of [kept, plain]) await gateway.headKnown('alpha')
await metricIs(kept, 'tollgate_network_final', { network: 'alpha' }, 0x1000 - deepest - 1)

const agent = new Agent({ keepAlive: true, maxSockets: 20 })
t.teardown(() => {
  agent.destroy()
})

const random = new Random(seed)
const below = (n: number): number => random.below(n)
const one = <T>(of: readonly T[]): T => of[below(of.length)]!

/** A block as calls name one: often an old one, now and then the newest ones and some that are not there yet. */
function block(): unknown {
  const number = () => `0x${(chain.head - below(one([4, 12, 40])) + below(3)).toString(16)}`
  return one([
    number,
    number,
    number,
    number,
    () => one(['latest', 'earliest', 'pending']),
    () => ({ blockNumber: number() }),
    () => ({ blockHash: one(chain.hashes) }),
  ])()
}

const scalar = (): unknown => {
  const one = block()
  return typeof one === 'object' ? 'latest' : one
}

const transaction = (): string => chain.transaction(chain.head - below(30) + 3, below(2))

function topics(): unknown {
  const [a, b] = ['a', 'b'].map(digit => `0x${digit.repeat(64)}`)
  return one([[a, b], [[a, b]], [a, [b]], [[a], b], [null, a], []])
}

function call(): readonly [method: string, params: unknown] {
  return one([
    () => ['eth_getBlockByNumber', [scalar(), one([true, false])]] as const,
    () => ['eth_getBlockByHash', [one([...chain.hashes.slice(-8), `0x${'0'.repeat(64)}`]), false]] as const,
    () => ['eth_getTransactionReceipt', [transaction()]] as const,
    () => ['eth_getTransactionByHash', [transaction()]] as const,
    () => ['eth_getLogs', [{ fromBlock: scalar(), toBlock: scalar(), topics: topics() }]] as const,
    () => ['eth_getLogs', [{ blockHash: one(chain.hashes), topics: topics() }]] as const,
    () => ['eth_call', [{ to: one(['0x00', '0xdead']), x: one([true, 'true', 1, '1']) }, block()]] as const,
    () => ['eth_getBalance', [`0x0${below(4)}`, block()]] as const,
    () => ['web3_sha3', [`0x0${below(9)}`]] as const,
    () => [one(['eth_blockNumber', 'eth_gasPrice', 'eth_chainId', 'eth_nope', 'trace_block']), []] as const,
    () => ['eth_getBalance', one([[], ['0x00', 'soon'], ['0x00', {}]])] as const,
  ])()
}

/** The call as some client writes it. */
function written(): string {
  const [method, params] = call()
  const text = message(method, params, one([1, 'a', 18_446_744_073, null]))
  if (below(3) > 0) return text
  return text.replace(/"(?:[^"\\]|\\.)*"|[,:]/g, token =>
    token.startsWith('"') ? token : `${token}${one([' ', '  ', '\n'])}`,
  )
}

/** What one gateway answers, but for what is random. */
async function answered(access: Access, at: number, body: string, isSocket: boolean): Promise<string> {
  const reply = isSocket ? null : await access.post(body, { agent })
  const text = reply === null ? await sockets[at]!.exchange(body) : `${reply.status} ${reply.text}`
  return text.replaceAll(/"requestId":"[\w-]+"/g, '"requestId":""')
}

t.test(`${runs} calls, seed ${seed}`, async t => {
  let sent = 0
  let differing = 0
  while (sent < runs && differing < 3) {
    const lanes: Promise<void>[] = []
    for (let i = 0; i < round; i += 1) {
      const batch = below(10) === 0 ? Array.from({ length: 1 + below(8) }, written) : null
      const body = batch === null ? written() : `[${batch.join(',')}]`
      // A socket's frames are matched by their order: one at a time.
      const isSocket = i === 0
      sent += batch?.length ?? 1
      lanes.push(
        Promise.all(accesses.map((access, at) => answered(access, at, body, isSocket))).then(([a, b]) => {
          if (a === b) return
          differing += 1
          t.equal(a, b, body)
        }),
      )
    }
    await Promise.all(lanes)
    const move = below(4)
    if (move === 0) chain.reorganize(1 + below(deepest))
    else if (move < 3) chain.mine()
  }
  t.equal(differing, 0)
  const [ours, theirs] = await Promise.all(accesses.map(access => access.usage()))
  t.strictSame(ours, theirs, 'and both have charged the same')
  const hits = await metric(kept, 'tollgate_cache_calls_total', { result: 'hit' })
  t.ok(hits > runs / 20, `${hits} answers were kept ones`)
  t.comment(`${sent} calls, ${hits} hits, ${await metric(kept, 'tollgate_cache_evicted_total')} evicted`)
})
