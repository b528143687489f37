import fc from 'fast-check'
import t from 'tap'
import { evmSubscriptions } from '../../src/families/evm/subscriptions.ts'
import { solanaSubscriptions } from '../../src/families/solana/subscriptions.ts'
import { sharedParams } from '../../src/subscriptions/shared/shared-params.ts'

const sharingKey = (words: Parameters<typeof sharedParams>[0], method: string, params: string): string =>
  `${method} ${sharedParams(words, method, params)}`
const evm = (params: string): string => sharingKey(evmSubscriptions, 'eth_subscribe', params)
const solana = (method: string, params: string): string => sharingKey(solanaSubscriptions, method, params)
const [A, B] = [`0x${'aB'.repeat(20)}`, `0x${'cd'.repeat(20)}`]
const [T, U] = [`0x${'1f'.repeat(32)}`, `0x${'2E'.repeat(32)}`]
const logs = (filter: unknown): string => evm(JSON.stringify(['logs', filter]))

t.test('EVM: what means the same has one key', t => {
  const groups: readonly (readonly unknown[])[] = [
    [{}, { address: null }, { topics: null }, { topics: null, address: null }],
    [{ address: A }, { address: [A] }, { address: A.toLowerCase() }, { address: [A, A.toLowerCase()] }],
    [{ address: [A, B] }, { address: [B, A] }, { address: [B, A, B], topics: null }],
    [{ topics: [T] }, { topics: [[T]] }, { topics: [[T, T.toUpperCase().replace('0X', '0x')]] }],
    [{ topics: [[T, U], null] }, { topics: [[U.toLowerCase(), T], null], address: null }],
    [
      { address: A, topics: [T] },
      { topics: [T], address: A },
    ],
  ]
  for (const [i, group] of groups.entries()) {
    t.equal(new Set(group.map(logs)).size, 1, `group ${i}`)
    for (const other of groups.slice(i + 1)) t.not(logs(group[0]), logs(other[0]))
  }
  t.equal(evm('["logs",{}]'), evm('[ "lo\\u0067s" , { } ] '))
  const spelled = '["new\\u0048eads"]'
  t.equal(evm('["newHeads"]'), evm(spelled))
  const filler = evmSubscriptions.filler('eth_subscribe', spelled, {
    best: () => null,
    isPlausible: () => true,
  })
  const head = '{"number":"0x1","hash":"0x2"}'
  t.strictSame([filler.take(head), filler.take(head)], [true, false], 'and its gaps are filled')
  t.end()
})

t.test('EVM: what means something else to some node has a key of its own', t => {
  const filters: readonly unknown[] = [
    {},
    { address: [] },
    { address: A },
    { address: B },
    { address: [A, B] },
    { address: true },
    { address: 'true' },
    { address: 1 },
    { address: A.slice(0, -1) },
    { address: [A, null] },
    // To geth a filter of two topics, whatever they are, leaves out logs that have one.
    { topics: [] },
    { topics: [null] },
    { topics: [T] },
    { topics: [T, null] },
    { topics: [null, T] },
    { topics: [[T, U]] },
    { topics: [T, U] },
    { topics: [U, T] },
    { topics: [[]] },
    { topics: [[T, null]] },
    { topics: T },
    { topics: [[[T]]] },
    { Topics: [T] },
    { fromBlock: '0x1' },
    { fromBlock: '0x01' },
    { address: A, x: 1 },
    { address: A, x: '1' },
    null,
  ]
  t.equal(new Set(filters.map(logs)).size, filters.length)
  const others = ['["logs"]', '["logs",{},{}]', '["newHeads"]', '["newHeads",{}]', '["logs",[]]', '{}', '[]']
  t.equal(new Set([...others, '["logs",{}]'].map(evm)).size, others.length + 1)
  t.not(sharingKey(solanaSubscriptions, 'eth_subscribe', '["logs",{"topics":null}]'), logs({}))
  t.not(evm('[1]'), evm('[1.0]'))
  t.end()
})

t.test('EVM: where parsers disagree about a filter, it is equal to itself alone', t => {
  const ambiguous = [
    `{"address":"${A}","address":"${B}"}`,
    `{"address":"${B}","address":"${A}"}`,
    `{"address":"${A}","Address":"${B}"}`,
    `{"Address":"${B}","address":"${A}"}`,
    `{"topics":["${T}"],"topic\u017f":["${U}"]}`,
    `{"topic\u017f":["${U}"],"topics":["${T}"]}`,
    `{"x":{"y":1,"y":2}}`,
    `{"x":{"y":2,"y":1}}`,
  ].map(filter => evm(Buffer.from(`["logs",${filter}]`).toString('latin1')))
  t.equal(new Set(ambiguous).size, ambiguous.length)
  t.end()
})

t.test('Solana: the commitment that nodes take by default is the same when it is spelled out', t => {
  for (const method of ['logsSubscribe', 'accountSubscribe', 'programSubscribe', 'signatureSubscribe']) {
    const keys = [
      '["x"]',
      '["x",{}]',
      '["x",{"commitment":"finalized"}]',
      '[ "x" , {"commitment":"\\u0066inalized"} ]',
    ]
    t.equal(new Set(keys.map(params => solana(method, params))).size, 1, method)
    const others = [
      '["x"]',
      '["y"]',
      '["x",{"commitment":"confirmed"}]',
      '["x",{"commitment":"max"}]',
      '["x",null]',
      '["x",{"commitment":null}]',
      '["x",{"commitment":"Finalized"}]',
      '["x",{"Commitment":"finalized"}]',
      '["x",{"commitment":"finalized"},1]',
      '["x",{"encoding":"base64"}]',
      '["x",{"encoding":"binary"}]',
      '["x",{"commitment":"finalized","commitment":"confirmed"}]',
      '["x",[]]',
      '["x",{"minContextSlot":1}]',
    ]
    t.equal(new Set(others.map(params => solana(method, params))).size, others.length, method)
  }
  t.equal(
    solana('accountSubscribe', '["x",{"encoding":"base64","commitment":"finalized"}]'),
    solana('accountSubscribe', '["x",{"encoding":"base64"}]'),
  )
  t.not(solana('blockSubscribe', '["all",{"commitment":"finalized"}]'), solana('blockSubscribe', '["all"]'))
  t.not(solana('logsSubscribe', '["x"]'), solana('accountSubscribe', '["x"]'))
  t.end()
})

type Filter = Record<string, unknown>
interface Log {
  readonly address: string
  readonly topics: readonly string[]
}

/** What a filter asks for, as geth reads it (eth/filters: UnmarshalJSON, filterLogs); a reference without a word of ours. */
function gethMatches(log: Log, { address, topics }: Filter): boolean {
  const addresses = (address == null ? [] : [address].flat()) as string[]
  if (addresses.length > 0 && !addresses.some(one => one.toLowerCase() === log.address)) return false
  const wanted = (topics ?? []) as unknown[]
  if (wanted.length > log.topics.length) return false
  return wanted.every((one, i) => {
    const any = one === null ? [] : ([one].flat() as (string | null)[])
    if (any.length === 0 || any.includes(null)) return true
    return any.some(topic => topic?.toLowerCase() === log.topics[i])
  })
}

const [addressPool, topicPool] = [
  [A, A.toLowerCase(), B],
  [T, U, U.toLowerCase()],
]
const oneOrMore = (pool: readonly string[]) =>
  fc.oneof(fc.constant(null), fc.constantFrom(...pool), fc.array(fc.constantFrom(...pool), { maxLength: 3 }))
const topic = fc.oneof(
  oneOrMore(topicPool),
  fc.array(fc.constantFrom<string | null>(...topicPool, null), { maxLength: 2 }),
)
const filters = fc.record(
  {
    address: oneOrMore(addressPool),
    topics: fc.oneof(fc.constant(null), fc.array(topic, { maxLength: 3 })),
  },
  { requiredKeys: [] },
)
const topicLists = [0, 1, 2, 3].flatMap(length =>
  Array.from({ length: 2 ** length }, (_, bits) =>
    Array.from({ length }, (_, i) => [T.toLowerCase(), U.toLowerCase()][(bits >> i) & 1]!),
  ),
)
const everyLog: readonly Log[] = [A.toLowerCase(), B].flatMap(address =>
  topicLists.map(topics => ({ address, topics })),
)

t.test('filters with one key match the same logs', t => {
  let equal = 0
  fc.assert(
    fc.property(fc.array(filters, { minLength: 20, maxLength: 40 }), all => {
      const byKey = new Map<string, Filter>()
      for (const filter of all) {
        const key = logs(filter)
        const same = byKey.get(key)
        byKey.set(key, filter)
        if (same === undefined || JSON.stringify(same) === JSON.stringify(filter)) continue
        equal++
        for (const log of everyLog) if (gethMatches(log, same) !== gethMatches(log, filter)) return false
      }
      return true
    }),
    { numRuns: 100 },
  )
  t.ok(equal > 30, `${equal} pairs that are spelled in two ways`)
  t.end()
})

t.test('any JSON at all has a key, equal only for equal values', t => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue(), { maxLength: 3 }),
      fc.array(fc.jsonValue(), { maxLength: 3 }),
      (a, b) => {
        const [rawA, rawB] = [a, b].map(value => Buffer.from(JSON.stringify(value)).toString('latin1'))
        const spaced = Buffer.from(JSON.stringify(a, null, 2)).toString('latin1')
        const key = solana('slotSubscribe', rawA!)
        if (key !== solana('slotSubscribe', spaced)) return false
        return (
          key !== solana('slotSubscribe', rawB!) || JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
        )
      },
    ),
  )
  t.end()
})

/** The same value with its members in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .map(([name, one]) => [name, sorted(one)])
    .sort()
}
