import t from 'tap'
import type { Reply } from '../../../src/jsonrpc/reply.ts'
import type { GapFiller } from '../../../src/upstream/subscriptions/gap.ts'
import { headsFiller } from '../../../src/upstream/subscriptions/heads-filler.ts'
import { compact, fillerOf } from '../../../src/upstream/subscriptions/kind.ts'
import { logsFiller } from '../../../src/upstream/subscriptions/logs-filler.ts'
import { signatureFiller } from '../../../src/upstream/subscriptions/signature-filler.ts'
import type { Ask } from '../../../src/upstream/subscriptions/upstream-socket.ts'

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
  const filler = headsFiller()
  t.ok(filler.take(head(10, 'a10')))
  t.strictSame(await filled(filler, upstream(range(1, 13))), [
    head(11, 'a11'),
    head(12, 'a12'),
    head(13, 'a13'),
  ])
  t.notOk(filler.take(head(13, 'a13')), 'what was filled is not passed on again')
  t.ok(filler.take(head(14, 'a14')))
})

t.test('a reorg in the gap is told from the fork on', async t => {
  const filler = headsFiller()
  for (const { number, hash } of range(8, 12)) filler.take(head(number, hash))
  const chain = [...range(1, 10), ...range(11, 13, 'b')]
  t.strictSame(await filled(filler, upstream(chain)), [head(11, 'b11'), head(12, 'b12'), head(13, 'b13')])
})

t.test('a route that is behind fills nothing, and tells nothing twice', async t => {
  const filler = headsFiller()
  for (const { number, hash } of range(8, 12)) filler.take(head(number, hash))
  t.strictSame(await filled(filler, upstream(range(1, 11))), [])
  t.notOk(filler.take(head(12, 'a12')))
  t.ok(filler.take(head(13, 'a13')))
})

t.test('a gap over 128 blocks is too wide; one that breaks is not', async t => {
  const filler = headsFiller()
  filler.take(head(10, 'a10'))
  await t.rejects(filled(filler, upstream(range(1, 139))), { message: '129 blocks were missed' })
  t.equal((await filled(filler, upstream(range(1, 138)))).length, 128)
  await t.rejects(
    filled(filler, () => Promise.resolve(null)),
    { message: /gave no result/ },
  )
})

t.test('missed logs are read by range, from the beginning of the subscription at the earliest', async t => {
  const filler = logsFiller('["logs",{"address":"0x1"}]')
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
    const filler = logsFiller('["logs"]')
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
  const filler = logsFiller('["logs"]')
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
  t.equal(fillerOf('eth_subscribe', '["newPendingTransactions"]').take('"0x1"'), true)
  t.end()
})
