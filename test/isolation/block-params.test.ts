import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { echo } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'

/** Seen: what is no block was taken for one near the tip, and sent to nodes that may read an old block out of it. */

const node = (await startNode(t, { chainId: 1001, head: 0x100000 })).otherwise(echo)
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 }, sol: { family: 'solana', chainId: 'sol' } },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url, capabilities: ['archive', 'trace', 'debug'] },
    { id: 'sol-a', network: 'sol', http: node.url },
  ],
  methods: `notification: { cost: 1 }
families:
  evm:
    eth_getBalance: { block: { at: 1, kind: ref, omitted: latest }, reads: state, params: [1, 2] }
    eth_getBlockTransactionCountByNumber: { block: { at: 0, kind: num }, params: [1, 1] }
    eth_getBlockReceipts: { block: { at: 0, kind: ref }, params: [1, 1] }
    eth_getLogs: { block: { at: 0, kind: range }, params: [1, 1], maxRange: 100 }
    eth_getTransactionReceipt: { block: { at: 0, kind: txhash }, params: [1, 1] }
    debug_storageRangeAt: { block: { at: 0, kind: hash }, params: [1, 1] }
    eth_callMany: { block: { at: 0, kind: num, path: blockNumber }, reads: state, params: [1, 1] }
  solana:
    getBlockTime: { block: { at: 0, kind: slot }, params: [1, 1] }
`,
})
const access = await createAccess(gateway, 'paid', 'alpha')
const solana = await createAccess(gateway, 'paid', 'sol')
const hash = `"0x${'ab'.repeat(32)}"`

/** Reasons, or `sent` for what reached the node, in the order of the params. */
async function outcomes(by: typeof access, method: string, params: readonly string[]) {
  const items = params.map((one, id) => `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":[${one}]}`)
  const replies: any[] = JSON.parse((await by.post(`[${items.join()}]`)).text)
  return replies.map(({ error }): string => (error === undefined ? 'sent' : String(error.data?.reason)))
}

/** What no node may get to see as a block, wherever one is wanted. */
const noBlock = [
  '"1"',
  '"EARLIEST"',
  '"Latest"',
  '"latest "',
  '" 0x1"',
  '""',
  '["0x0"]',
  '[]',
  '"0x"',
  '"0x1g"',
  '"0x-1"',
  '"-0x1"',
  '"0b1"',
  '"genesis"',
  '1.5',
  '-1',
  '1e300',
  '9007199254740992',
  '"0x20000000000000"',
  '"0xffffffffffffffffffff"',
  'true',
  'false',
  `"${'0'.repeat(600)}"`,
]
const blocks = ['"0x1"', '"0x01"', '"0X1"', '"0xfffff"', '5', '0', '"\\u0030x1"']
const tags = ['"latest"', '"earliest"', '"pending"', '"safe"', '"finalized"', '"accepted"', '"l1_committed"']

t.test('what is no block is invalid_params', async t => {
  for (const wrap of [(block: string) => block, (block: string) => `{"blockNumber":${block}}`]) {
    const refused = noBlock.map(wrap)
    const before = node.calls.length
    for (const [method, params] of [
      ['eth_getBalance', refused.map(one => `"0x1",${one}`)],
      ['eth_getBlockReceipts', refused],
      ['eth_getBlockTransactionCountByNumber', refused],
    ] as const) {
      const found = await outcomes(access, method, params)
      for (const [i, one] of params.entries())
        t.equal(found[i], 'invalid_params', `${method} ${one.slice(0, 60)}`)
    }
    t.equal(node.calls.length, before, 'nothing reached the node')
    for (const one of [...blocks, ...tags].map(wrap))
      t.same(await outcomes(access, 'eth_getBalance', [`"0x1",${one}`]), ['sent'], one)
  }
})

t.test('a block object has one of its members, and null is none', async t => {
  const sent = [
    'null',
    '{"blockHash":null,"blockNumber":"0x1"}',
    `{"blockHash":${hash},"blockNumber":null,"requireCanonical":true}`,
    hash,
  ]
  for (const one of sent) t.same(await outcomes(access, 'eth_getBalance', [`"0x1",${one}`]), ['sent'], one)
  const refused = [
    '{}',
    '{"blockHash":null}',
    '{"requireCanonical":true}',
    `{"blockHash":${hash},"blockNumber":"0x1"}`,
    '{"blockHash":"0x1"}',
    '{"blockHash":5}',
    `{"blockNumber":${hash}}`,
    '{"BlockNumber":"0x1","blockNumber":"latest"}',
  ]
  for (const one of refused)
    t.same(await outcomes(access, 'eth_getBalance', [`"0x1",${one}`]), ['invalid_params'], one)
})

t.test('the number of a block object counts beside a null hash', async t => {
  const plain = await startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  })
  await plain.headKnown('alpha')
  const by = await createAccess(plain, 'paid', 'alpha')
  const address = `"0x${'11'.repeat(20)}"`
  t.same(await outcomes(by, 'eth_getBalance', [`${address},{"blockHash":null,"blockNumber":"0x1"}`]), [
    'capability_missing',
  ])
})

t.test('so in ranges', async t => {
  const before = node.calls.length
  const ends = noBlock.flatMap(one => [
    `{"fromBlock":${one},"toBlock":"latest"}`,
    `{"fromBlock":"latest","toBlock":${one}}`,
  ])
  const refused = [
    ...ends,
    `{"fromBlock":${hash}}`,
    // As a quantity this is block 1: a range of a million blocks to the node that reads it so.
    `{"fromBlock":"0x${'1'.padStart(64, '0')}","toBlock":"latest"}`,
    `{"blockHash":${hash},"fromBlock":"0x1"}`,
    '{"blockHash":"latest"}',
    '"0x1"',
    '["0x1"]',
    'true',
  ]
  for (let at = 0; at < refused.length; at += 50) {
    const some = refused.slice(at, at + 50)
    const found = await outcomes(access, 'eth_getLogs', some)
    for (const [i, one] of some.entries()) t.equal(found[i], 'invalid_params', one.slice(0, 60))
  }
  t.equal(node.calls.length, before, 'nothing reached the node')
  const sent = [
    '{}',
    'null',
    `{"blockHash":${hash},"fromBlock":null,"toBlock":null}`,
    '{"fromBlock":"0x1","toBlock":"0x64"}',
    '{"fromBlock":1,"toBlock":100}',
    '{"fromBlock":"latest","toBlock":null}',
  ]
  for (const one of sent) t.same(await outcomes(access, 'eth_getLogs', [one]), ['sent'], one)
})

t.test('so where a hash, a slot or an object with a block stands', async t => {
  const cases: [by: typeof access, method: string, refused: string[], sent: string[]][] = [
    [access, 'eth_getTransactionReceipt', ['["0x1"]', '5', 'true', '{}'], [hash, 'null']],
    [access, 'debug_storageRangeAt', ['["0x1"]', '5', '{}'], [hash, '"latest"', `{"blockHash":${hash}}`]],
    [access, 'eth_callMany', ['"0x1"', '["0x1"]', '{"blockNumber":"1"}'], ['{"blockNumber":"0x1"}', '{}']],
    [solana, 'getBlockTime', ['"1"', '"0x1"', '"latest"', '[1]', '1.5', '-1', '1e300', 'true'], ['5', '0']],
  ]
  for (const [by, method, refused, sent] of cases) {
    for (const one of refused)
      t.same(await outcomes(by, method, [one]), ['invalid_params'], `${method} ${one}`)
    for (const one of sent) t.same(await outcomes(by, method, [one]), ['sent'], `${method} ${one}`)
  }
})
