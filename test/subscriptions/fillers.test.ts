import t from 'tap'
import type { Reply } from '../../src/jsonrpc/message.ts'
import type { GapFiller } from '../../src/families/gap.ts'
import { headsFiller } from '../../src/families/evm/heads-filler.ts'
import { evm } from '../../src/families/evm/evm.ts'
import { compact } from '../../src/jsonrpc/compact.ts'
import { logsFiller } from '../../src/families/evm/logs-filler.ts'
import { signatureFiller } from '../../src/families/solana/signature-filler.ts'
import type { Heights } from '../../src/families/gap.ts'
import type { Ask } from '../../src/families/gap.ts'

/** A network of which nothing is known yet, and one that is known to have come to a height. */
const anyHeight: Heights = { best: () => null, isPlausible: () => true }
const heightsAt = (best: number): Heights => ({
  best: () => best,
  isPlausible: height => height <= best + 64,
})

/** A chain by number: hash, and the indexes of the logs in each block. */
type Chain = readonly { readonly number: number; readonly hash: string; readonly logs?: readonly string[] }[]

const hex = (number: number): string => `0x${number.toString(16)}`
const head = (number: number, hash: string): string =>
  `{"number":"${hex(number)}","hash":"${hash}","gasUsed":"0x0"}`
const log = (number: number, hash: string, index: string, removed = false): string =>
  `{"blockNumber":"${hex(number)}","blockHash":"${hash}","logIndex":"${index}","removed":${String(removed)}}`

/** An upstream that answers from a chain. */
function upstream(chain: Chain): Ask {
  const result = (raw: string): Promise<Reply> => Promise.resolve({ kind: 'result', result: raw })
  return (method, params) => {
    if (method === 'eth_blockNumber') return result(`"${hex(chain.at(-1)!.number)}"`)
    const [first] = JSON.parse(params) as [string & { fromBlock: string; toBlock: string }]
    if (method === 'eth_getLogs') {
      const [from, to] = [Number(first.fromBlock), Number(first.toBlock)]
      const within = chain.filter(({ number }) => number >= from && number <= to)
      return result(
        `[${within.flatMap(block => (block.logs ?? []).map(index => log(block.number, block.hash, index))).join()}]`,
      )
    }
    const block = first === 'latest' ? chain.at(-1) : chain.find(({ number }) => number === Number(first))
    return result(
      block === undefined
        ? 'null'
        : `{"number":"${hex(block.number)}","hash":"${block.hash}","transactions":["0x1"],"uncles":[],"size":"0x1","gasUsed":"0x0"}`,
    )
  }
}

async function filled(filler: GapFiller, ask: Ask, known: number | null = null): Promise<string[]> {
  const results: string[] = []
  for await (const result of filler.fill(ask, known)) results.push(result)
  return results
}

const range = (from: number, to: number, prefix = 'a'): { number: number; hash: string }[] =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ number: from + i, hash: `${prefix}${from + i}` }))

t.test('missed heads are read by number, without the members that only blocks have', async t => {
  const filler = headsFiller(anyHeight)
  t.ok(filler.take(head(10, 'a10')))
  t.strictSame(await filled(filler, upstream(range(1, 13))), [
    head(11, 'a11'),
    head(12, 'a12'),
    head(13, 'a13'),
  ])
  t.notOk(filler.take(head(13, 'a13')), 'what was filled is not passed on again')
  t.ok(filler.take(head(14, 'a14')))
})

t.test('bug: heads that were delivered while a node lied about the height came again', async t => {
  let best = 2_325
  const filler = headsFiller({ best: () => best, isPlausible: height => height <= best + 64 })
  for (const { number, hash } of range(2_320, 2_325)) t.ok(filler.take(head(number, hash)))
  best = Number.MAX_SAFE_INTEGER
  for (const { number, hash } of range(2_326, 2_330)) t.ok(filler.take(head(number, hash)))
  t.strictSame(await filled(filler, upstream(range(2_300, 2_331))), [head(2_331, 'a2331')])
  best = 2_331
  t.strictSame(await filled(filler, upstream(range(2_300, 2_331))), [])
  for (const { number, hash } of range(2_326, 2_331)) t.notOk(filler.take(head(number, hash)))
})

t.test('bug: a head that is far too low was delivered as often as it came', t => {
  const filler = headsFiller(heightsAt(5_000))
  t.ok(filler.take(head(7, 'low')))
  t.notOk(filler.take(head(7, 'low')))
  t.ok(filler.take(head(5_000, 'a5000')))
  t.end()
})

t.test('a reorg in the gap is told from the fork on', async t => {
  const filler = headsFiller(anyHeight)
  for (const { number, hash } of range(8, 12)) filler.take(head(number, hash))
  const chain = [...range(1, 10), ...range(11, 13, 'b')]
  t.strictSame(await filled(filler, upstream(chain)), [head(11, 'b11'), head(12, 'b12'), head(13, 'b13')])
})

t.test('a route that is behind fills nothing, and tells nothing twice', async t => {
  const filler = headsFiller(anyHeight)
  for (const { number, hash } of range(8, 12)) filler.take(head(number, hash))
  t.strictSame(await filled(filler, upstream(range(1, 11))), [])
  t.notOk(filler.take(head(12, 'a12')))
  t.ok(filler.take(head(13, 'a13')))
})

t.test('a gap over 128 blocks is too wide; one that breaks is not', async t => {
  const filler = headsFiller(anyHeight)
  filler.take(head(10, 'a10'))
  await t.rejects(filled(filler, upstream(range(1, 139))), { message: '129 blocks were missed' })
  t.equal((await filled(filler, upstream(range(1, 138)))).length, 128)
  await t.rejects(
    filled(filler, () => Promise.resolve(null)),
    { message: /gave no result/ },
  )
})

t.test('missed logs are read by range, from the beginning of the subscription at the earliest', async t => {
  const filler = logsFiller('["logs",{"address":"0x1"}]', anyHeight)
  const chain: Chain = [
    { number: 9, hash: 'a9', logs: ['0x0'] },
    { number: 10, hash: 'a10', logs: ['0x0', '0x1'] },
  ]
  await filler.started(upstream(chain.slice(0, 1)))
  t.ok(filler.take(log(10, 'a10', '0x0')))
  const grown: Chain = [...chain, { number: 11, hash: 'a11' }, { number: 12, hash: 'a12', logs: ['0x5'] }]
  t.strictSame(await filled(filler, upstream(grown)), [log(10, 'a10', '0x1'), log(12, 'a12', '0x5')])
  t.notOk(filler.take(log(12, 'a12', '0x5')))
})

t.test(
  'logs of dropped blocks come again as removed, newest first, then those of the new branch',
  async t => {
    const filler = logsFiller('["logs"]', anyHeight)
    await filler.started(upstream(range(1, 9)))
    for (const [number, index] of [
      [10, '0x0'],
      [11, '0x0'],
      [11, '0x1'],
    ] as const)
      filler.take(log(number, `a${number}`, index))
    const chain: Chain = [
      { number: 10, hash: 'a10', logs: ['0x0'] },
      { number: 11, hash: 'b11', logs: ['0x0'] },
      { number: 12, hash: 'b12' },
    ]
    t.strictSame(await filled(filler, upstream([...range(1, 9), ...chain])), [
      log(11, 'a11', '0x1', true),
      log(11, 'a11', '0x0', true),
      log(11, 'b11', '0x0'),
    ])
  },
)

t.test('a gap without logs is measured by the last known head', async t => {
  const filler = logsFiller('["logs"]', anyHeight)
  await filler.started(upstream(range(1, 9)))
  await t.rejects(filled(filler, upstream(range(1, 500))), { message: '491 blocks were missed' })
  t.strictSame(await filled(filler, upstream(range(1, 500)), 480), [])
})

t.test('a signature is over with its message, and asked for after a gap', async t => {
  const filler = signatureFiller('["sig",{"commitment":"confirmed"}]')
  t.notOk(filler.isLast('{"context":{"slot":1},"value":"receivedSignature"}'))
  t.ok(filler.isLast('{"context":{"slot":1},"value":{"err":null}}'))
  const status =
    (raw: string): Ask =>
    () =>
      Promise.resolve({ kind: 'result', result: `{"context":{"slot":9},"value":[${raw}]}` })
  t.strictSame(await filled(filler, status('null')), [])
  t.strictSame(await filled(filler, status('{"confirmationStatus":"processed","err":null}')), [])
  t.strictSame(
    await filled(filler, status('{"confirmationStatus":"finalized","err":{"InstructionError":[0,"x"]}}')),
    ['{"context":{"slot":9},"value":{"err":{"InstructionError":[0,"x"]}}}'],
  )
})

t.test('equal calls are equal without their white space', t => {
  t.equal(compact(' [ "logs" , { "topics" : [ null , " a  b " ] } ] '), '["logs",{"topics":[null," a  b "]}]')
  t.equal(compact('["a\\" b"]'), '["a\\" b"]')
  t.equal(
    evm.subscriptions.filler('eth_subscribe', '["newPendingTransactions"]', anyHeight).take('"0x1"'),
    true,
  )
  t.end()
})

t.test('one head that is far too low leaves the gap as it is', async t => {
  const filler = headsFiller(heightsAt(6_000))
  for (const { number, hash } of range(5_990, 6_000)) filler.take(head(number, hash))
  t.ok(filler.take(head(1_000, 'a1000')), 'it is passed on')
  const chain = range(900, 6_003)
  t.strictSame(await filled(filler, upstream(chain)), [
    head(6_001, 'a6001'),
    head(6_002, 'a6002'),
    head(6_003, 'a6003'),
  ])
  t.notOk(filler.take(head(6_000, 'a6000')))
})

t.test('a head that goes back by less is a reorg, and does not make the gap too wide', async t => {
  const filler = headsFiller(heightsAt(6_000))
  for (const { number, hash } of range(5_870, 6_000)) filler.take(head(number, hash))
  filler.take(head(5_880, 'b5880'))
  const told = await filled(filler, upstream(range(5_000, 6_010)))
  t.strictSame(
    told,
    range(5_880, 6_010).map(({ number, hash }) => head(number, hash)),
  )
})

for (const [what, more] of [
  ['plausible', 50],
  ['beyond what is plausible', 100],
  ['absurd', 2 ** 40],
] as const)
  t.test(`a false head that is too high is no head of the chain: ${what}`, async t => {
    const filler = headsFiller(heightsAt(1_000))
    for (const { number, hash } of range(990, 1_000)) filler.take(head(number, hash))
    for (let i = 0; i < 200; i++) t.ok(filler.take(head(1_000 + more, `lie${i}`)))
    t.strictSame(await filled(filler, upstream(range(900, 1_002))), [
      head(1_001, 'a1001'),
      head(1_002, 'a1002'),
    ])
    t.notOk(filler.take(head(1_000, 'a1000')))
    t.ok(filler.take(head(1_003, 'a1003')))
  })

t.test('heads that came faster than anybody could believe them are known to the next route', async t => {
  const filler = headsFiller(heightsAt(1_000))
  for (const { number, hash } of range(990, 1_100)) filler.take(head(number, hash))
  t.strictSame(await filled(filler, upstream(range(900, 1_101))), [head(1_101, 'a1101')])
})

t.test('logs of false blocks, too high or too low, leave the gap as it is', async t => {
  const filler = logsFiller('["logs"]', heightsAt(6_000))
  await filler.started(upstream(range(5_900, 5_995)))
  filler.take(log(5_998, 'a5998', '0x0'))
  filler.take(log(6_050, 'lie', '0x0'))
  filler.take(log(6_100, 'lie', '0x0'))
  filler.take(log(1_000, 'a1000', '0x0'))
  filler.take(log(1_001, 'lie', '0x0'))
  const grown: Chain = range(900, 6_020).map(block => ({ ...block, logs: ['0x0'] }))
  const missed = grown.filter(({ number }) => number > 5_995 && number !== 5_998)
  t.strictSame(
    await filled(filler, upstream(grown), 6_000),
    missed.map(({ number, hash }) => log(number, hash, '0x0')),
  )
})

t.test('a head that the network cannot have come to ends nothing: another route is asked', async t => {
  const heads = headsFiller(heightsAt(1_000))
  heads.take(head(1_000, 'a1000'))
  await t.rejects(filled(heads, upstream(range(1, 6_000))), { message: /not a plausible head/ })
  const logs = logsFiller('["logs"]', heightsAt(1_000))
  await logs.started(upstream(range(900, 1_000)))
  await t.rejects(filled(logs, upstream(range(1, 6_000))), { message: /not a plausible head/ })
  const low = headsFiller(heightsAt(1_000))
  low.take(head(1_000, 'a1000'))
  await t.rejects(filled(low, upstream(range(1, 100))), { message: /far behind/ })
})
