import { error, reply, result, type Handler } from '../support/node-replies.ts'
import type { ExpectedRefusal } from '../support/refusals.ts'

/** What must reach the node: the method and the raw params. */
export interface Sent {
  readonly method: string
  readonly params: string
}

/** What one message leads to, whatever carries it: an HTTP body, an item of a batch, a WebSocket frame. */
export type Expectation =
  | {
      readonly kind: 'answer'
      /** The raw id. */
      readonly id: string
      readonly member: 'result' | 'error'
      /** The raw result or error. */
      readonly raw: string
      /** Null when the gateway answers itself. */
      readonly sent: Sent | null
      readonly cost: number
    }
  | ({ readonly kind: 'refusal' } & ExpectedRefusal)
  | { readonly kind: 'silence'; readonly sent: Sent | null; readonly cost: number }

/** One message and all that must follow from it. */
export interface MessageCase {
  readonly name: string
  readonly family: 'evm' | 'solana'
  /** Absent: over HTTP and over WebSocket. */
  readonly transport?: 'http' | 'ws'
  /** JSON text, as the client writes it. */
  readonly body: string
  /** How the node answers; default `"ok"`. */
  readonly node?: Handler
  readonly expect: Expectation
}

/** Rules that the network of the EVM cases has of its own. */
export const evmOverrides = {
  eth_getLogs: { maxRange: 100 },
  debug_traceCall: { tracers: ['callTracer'] },
}

/** The chain id that the network of the EVM cases has. */
export const evmChainId = 1001

const call = (members: string) => `{"jsonrpc":"2.0","id":1,${members}}`
const sha3 = { method: 'web3_sha3', params: '["0x00"]' }
const plain = '"method":"web3_sha3","params":["0x00"]'

const answer = (id: string, sent: Sent | null, raw = '"ok"', cost = 1): Expectation => ({
  kind: 'answer',
  id,
  member: 'result',
  raw,
  sent,
  cost,
})
const refusal = (expected: ExpectedRefusal): Expectation => ({ kind: 'refusal', id: '1', ...expected })
const silence = (sent: Sent | null, cost: number): Expectation => ({ kind: 'silence', sent, cost })
const text = (value: unknown) => typeof value === 'string' && value !== ''

type Group = readonly Omit<MessageCase, 'family'>[]
const evm = (cases: Group): readonly MessageCase[] => cases.map(one => ({ family: 'evm' as const, ...one }))
const solana = (cases: Group): readonly MessageCase[] =>
  cases.map(one => ({ family: 'solana' as const, ...one }))

const ids = [
  '1',
  '0',
  '-0',
  '-1',
  '1.0',
  '1e3',
  '1.5E-7',
  '12345678901234567890',
  'null',
  '"a"',
  '""',
  '"\\u0041"',
  '" \\"\\\\\\/\\n "',
  '"é☃😀"',
  '"\\ud800"',
  '"__proto__"',
  `"${'x'.repeat(1022)}"`,
]

const idCases = evm([
  ...ids.map(id => ({
    name: `id ${id.slice(0, 40)} comes back byte for byte`,
    body: `{"jsonrpc":"2.0","id":${id},${plain}}`,
    expect: answer(id, sha3),
  })),
  ...['{}', '{"a":1}', '[]', '[1]', 'true', 'false', `"${'x'.repeat(1100)}"`, '1'.repeat(1100)].map(id => ({
    name: `id ${id.slice(0, 40)} is refused`,
    body: `{"jsonrpc":"2.0","id":${id},${plain}}`,
    expect: refusal({ reason: 'invalid_request', id: 'null' }),
  })),
])

const shapeCases = evm([
  ...['"1.0"', '2.0', '2', '"2"', 'null', '""', '["2.0"]'].map(version => ({
    name: `jsonrpc ${version}`,
    body: `{"jsonrpc":${version},"id":1,${plain}}`,
    expect: refusal({ reason: 'invalid_request' }),
  })),
  { name: 'jsonrpc absent', body: `{"id":1,${plain}}`, expect: refusal({ reason: 'invalid_request' }) },
  {
    name: 'nothing of a call, not even an id',
    body: '{"foo":"boo"}',
    expect: refusal({ reason: 'invalid_request', id: 'null' }),
  },
  {
    name: 'an empty object',
    body: '{}',
    expect: refusal({ reason: 'invalid_request', id: 'null' }),
  },
  ...['1', 'null', 'true', '{}', '["web3_sha3"]'].map(method => ({
    name: `method ${method}`,
    body: call(`"method":${method},"params":["0x00"]`),
    expect: refusal({ reason: 'invalid_request' }),
  })),
  { name: 'method absent', body: call('"params":["0x00"]'), expect: refusal({ reason: 'invalid_request' }) },
  ...['1', '-1.5', '"x"', 'null', 'true', 'false', '[]'].map(body => ({
    name: `${body} instead of a call`,
    body,
    expect: refusal({ reason: 'invalid_request', id: 'null' }),
  })),
])

const nameCases = evm([
  {
    name: 'names and values with escapes are what they decode to',
    body: '{"\\u006asonrpc":"\\u0032.0","\\u0069d":1,"meth\\u006fd":"web3\\u005fsha3","\\u0070arams":["0x00"]}',
    expect: answer('1', sha3),
  },
  {
    name: 'order and whitespace do not matter',
    body: '\t{ "params" : ["0x00"]\r\n, "method" :"web3_sha3","id": 1 ,"jsonrpc":  "2.0" }\n',
    expect: answer('1', sha3),
  },
  {
    name: 'other members are dropped',
    body: call(
      `"extra":{"method":"x","id":[1]},"__proto__":{"id":2},"constructor":1,${plain},"":0,"methods":"y"`,
    ),
    expect: answer('1', sha3),
  },
  ...['jsonrpc":"2.0', 'method":"eth_chainId', 'meth\\u006fd":"eth_chainId'].map(second => ({
    name: `a second member ${second}"`,
    body: call(`${plain},"${second}"`),
    expect: refusal({ reason: 'invalid_request' }),
  })),
  {
    name: 'a second method that is null',
    body: call(`${plain},"method":null`),
    expect: refusal({ reason: 'invalid_request' }),
  },
  {
    name: 'a second params',
    body: call(`${plain},"params":["0x01"]`),
    expect: refusal({ reason: 'invalid_request' }),
  },
  {
    name: 'a second id',
    body: call(`${plain},"id":2`),
    expect: refusal({ reason: 'invalid_request', id: ['null', '1', '2'] }),
  },
  ...['Jsonrpc', 'JSONRPC', 'jſonrpc', 'json\\u0052pc'].map(name => ({
    name: `a variant ${name} beside the real one`,
    body: call(`${plain},"${name}":"2.0"`),
    expect: refusal({ reason: 'invalid_request' }),
  })),
  ...['ID', 'Id', 'iD', '\\u0049d'].map(name => ({
    name: `a variant ${name} beside the real one`,
    body: call(`${plain},"${name}":1`),
    expect: refusal({ reason: 'invalid_request', id: ['null', '1'] }),
  })),
  ...['Method', 'METHOD', '\\u004dethod'].map(name => ({
    name: `a variant ${name} beside the real one`,
    body: call(`${plain},"${name}":"eth_chainId"`),
    expect: refusal({ reason: 'invalid_request' }),
  })),
  ...['Params', 'PARAMS', 'paramſ', 'param\\u017f', 'PARAM\\u017F'].map(name => ({
    name: `a variant ${name} beside the real one`,
    body: call(`${plain},"${name}":["0x01"]`),
    expect: refusal({ reason: 'invalid_request' }),
  })),
  {
    name: 'a variant METHOD instead of the real one',
    body: call('"METHOD":"web3_sha3","params":["0x00"]'),
    expect: refusal({ reason: 'invalid_request' }),
  },
])

const unknownMethods = [
  'nope',
  '',
  'WEB3_SHA3',
  'web3_sha3 ',
  'constructor',
  '__proto__',
  'toString',
  'eth_*',
  'eth_',
  'eth_sendTransaction',
  'eth_sign',
  'eth_signTransaction',
  'admin_peers',
  'personal_unlockAccount',
  'miner_start',
  'debug_setHead',
  'anvil_mine',
  'evm_mine',
  'hardhat_reset',
  'engine_newPayloadV4',
  'getSlot',
  'getAccountInfo',
  'rpc_modules',
]

const methodCases = [
  ...evm(
    unknownMethods.map(method => ({
      name: `method "${method}" does not exist`,
      body: call(`"method":${JSON.stringify(method)},"params":[]`),
      expect: refusal({ reason: 'method_not_found' }),
    })),
  ),
  ...evm(
    ['eth_subscribe', 'eth_unsubscribe'].map(method => ({
      name: `${method} over HTTP`,
      transport: 'http' as const,
      body: call(`"method":"${method}","params":["newHeads"]`),
      expect: refusal({ reason: 'method_not_found' }),
    })),
  ),
  ...solana(
    [
      'eth_chainId',
      'eth_call',
      'eth_getProof',
      'trace_block',
      'debug_traceCall',
      'getslot',
      'constructor',
    ].map(method => ({
      name: `method ${method} does not exist on Solana`,
      body: call(`"method":"${method}","params":[]`),
      expect: refusal({ reason: 'method_not_found', family: 'solana' }),
    })),
  ),
  ...solana([
    {
      name: 'slotSubscribe over HTTP',
      transport: 'http',
      body: call('"method":"slotSubscribe"'),
      expect: refusal({ reason: 'method_not_found', family: 'solana' }),
    },
  ]),
]

const verbatimParams = [
  '[ { "a" : 18446744073709551615 , "b":[1e400,-0,1.0,\t1E+2] } ]',
  '["\\u0041\\/\\ud83d\\ude00é😀 \\"]}"]',
  '[{"a":1,"a":2,"__proto__":{"x":1},"":{"toString":null}}]',
  '[\n]',
  '["0x00"\r\n]',
  '[null]',
]

const paramsCases = [
  ...evm([
    ...['', ',"params":null'].map(params => ({
      name: `params ${params === '' ? 'absent' : 'null'} go upstream as []`,
      body: call(`"method":"eth_gasPrice"${params}`),
      expect: answer('1', { method: 'eth_gasPrice', params: '[]' }),
    })),
    ...verbatimParams.map(params => ({
      name: `params ${params} reach the node as they are`,
      body: call(`"method":"${params === '[\n]' ? 'eth_gasPrice' : 'web3_sha3'}","params": ${params} `),
      expect: answer('1', { method: params === '[\n]' ? 'eth_gasPrice' : 'web3_sha3', params }),
    })),
    ...['1', '"x"', 'true', 'false', '1e400'].map(params => ({
      name: `params ${params}`,
      body: call(`"method":"web3_sha3","params":${params}`),
      expect: refusal({ reason: 'invalid_request' }),
    })),
    ...['{}', '{"data":"0x00"}'].map(params => ({
      name: `params ${params} on EVM`,
      body: call(`"method":"web3_sha3","params":${params}`),
      expect: refusal({ reason: 'invalid_params', data: { why: text } }),
    })),
    ...['[]', '["0x00","0x01"]', '[[],{}]'].map(params => ({
      name: `too few or too many params: ${params}`,
      body: call(`"method":"web3_sha3","params":${params}`),
      expect: refusal({ reason: 'invalid_params', data: { why: text } }),
    })),
  ]),
  ...solana([
    {
      name: 'params as an object on Solana reach the node as they are',
      body: call('"method":"getInflationGovernor","params":{ "commitment" : "finalized" }'),
      expect: answer('1', { method: 'getInflationGovernor', params: '{ "commitment" : "finalized" }' }),
    },
    {
      name: 'params absent on Solana go upstream as []',
      body: call('"method":"getInflationGovernor"'),
      expect: answer('1', { method: 'getInflationGovernor', params: '[]' }),
    },
    {
      name: 'u64 in params and result on Solana',
      body: call('"method":"getMinimumBalanceForRentExemption","params":[ 18446744073709551615 ]'),
      node: result('{"rentEpoch":18446744073709551615,"x":1e400}'),
      expect: answer(
        '1',
        { method: 'getMinimumBalanceForRentExemption', params: '[ 18446744073709551615 ]' },
        '{"rentEpoch":18446744073709551615,"x":1e400}',
      ),
    },
    {
      name: 'too many params on Solana',
      body: call('"method":"getMinimumBalanceForRentExemption","params":[1,2,3]'),
      expect: refusal({ reason: 'invalid_params', family: 'solana', data: { why: text } }),
    },
  ]),
]

const address = `0x${'ab'.repeat(20)}`
const range = (members: string) => `[{"address":"${address}",${members}}]`

const readerCases = evm([
  ...[
    '"fromBlock":"0x1","fromBlock":"0x2"',
    '"fromBlock":"0x1","fromBloc\\u006b":"0x2"',
    '"FromBlock":"0x1"',
    '"fromBlock":"0x1","fromblock":"0x2"',
    '"fromBloc\u212a":"0x1"',
    '"fromBloc\\u212a":"0x1"',
    '"toBlock":"0x1","TOBLOCK":"0x2"',
    '"blockHash":"0x1","BlockHash":"0x2"',
  ].map(members => ({
    name: `a range with ${members}`,
    body: call(`"method":"eth_getLogs","params":${range(members)}`),
    expect: refusal({ reason: 'invalid_params', data: { why: text } }),
  })),
  ...['{"blockNumber":"latest","blocknumber":"0x1"}', '{"blockNumber":"latest","blockNumber":"0x1"}'].map(
    block => ({
      name: `a block reference ${block}`,
      body: call(`"method":"eth_getBalance","params":["${address}",${block}]`),
      expect: refusal({ reason: 'invalid_params', data: { why: text } }),
    }),
  ),
  ...[
    '{"tracer":"callTracer","tracer":"evil"}',
    '{"tracer":"callTracer","Tracer":"evil"}',
    '{"trace\\u0072":"callTracer","tracer":"evil"}',
    '"{\\"tracer\\":\\"callTracer\\",\\"TRACER\\":\\"evil\\"}"',
  ].map(config => ({
    name: `a tracer configuration ${config}`,
    body: call(`"method":"debug_traceCall","params":[{},"latest",${config}]`),
    expect: refusal({ reason: 'invalid_params', data: { why: text } }),
  })),
  {
    name: 'doubles of members that no rule reads pass',
    body: call(`"method":"eth_call","params":[{"to":"${address}","to":"${address}","TO":1},"latest"]`),
    expect: answer('1', {
      method: 'eth_call',
      params: `[{"to":"${address}","to":"${address}","TO":1},"latest"]`,
    }),
  },
  {
    name: 'a range over maxRange',
    body: call(`"method":"eth_getLogs","params":${range('"fromBlock":"0x1","toBlock":"0x100"')}`),
    expect: refusal({ reason: 'invalid_params', data: { why: text, maxRange: 100 } }),
  },
  {
    name: 'a range within maxRange',
    body: call(`"method":"eth_getLogs","params":${range('"fromBlock":"0x1","toBlock":"0x10"')}`),
    expect: answer('1', { method: 'eth_getLogs', params: range('"fromBlock":"0x1","toBlock":"0x10"') }),
  },
  ...['{"tracer":"evil"}', '{"tracer":"{step: function() {}}"}', '"{\\"tracer\\":\\"evil\\"}"'].map(
    config => ({
      name: `a tracer that is not allowed: ${config}`,
      body: call(`"method":"debug_traceCall","params":[{},"latest",${config}]`),
      expect: refusal({ reason: 'invalid_params', data: { why: text, tracers: ['callTracer'] } }),
    }),
  ),
  {
    name: 'a tracer that is allowed',
    body: call('"method":"debug_traceCall","params":[{},"latest",{"tracer":"callTracer"}]'),
    expect: answer(
      '1',
      { method: 'debug_traceCall', params: '[{},"latest",{"tracer":"callTracer"}]' },
      '"ok"',
      5,
    ),
  },
])

const jsonParamsCases = evm([
  {
    name: 'an array written as a string is sent as the array',
    body: call('"method":"eth_feeHistory","params":["0x4","latest","[25, 75.50]"]'),
    expect: answer('1', { method: 'eth_feeHistory', params: '["0x4","latest",[25, 75.50]]' }),
  },
  {
    name: 'an array as such stays',
    body: call('"method":"eth_feeHistory","params":["0x4","latest",[ 25,75 ]]'),
    expect: answer('1', { method: 'eth_feeHistory', params: '["0x4","latest",[ 25,75 ]]' }),
  },
  {
    name: 'an object written as a string is sent as the object',
    body: call('"method":"debug_traceBlockByNumber","params":["latest","{\\"tracer\\":\\"callTracer\\"}"]'),
    expect: answer(
      '1',
      { method: 'debug_traceBlockByNumber', params: '["latest",{"tracer":"callTracer"}]' },
      '"ok"',
      20,
    ),
  },
  ...['"[25"', '"5"', '"null"', '"\\"x\\""', '""', '"[1] 2"', '"callTracer"'].map(value => ({
    name: `the string ${value} is no JSON object or array and stays`,
    body: call(`"method":"eth_feeHistory","params":["0x4","latest",${value}]`),
    expect: answer('1', { method: 'eth_feeHistory', params: `["0x4","latest",${value}]` }),
  })),
  {
    name: 'a string elsewhere stays',
    body: call('"method":"web3_sha3","params":["[1]"]'),
    expect: answer('1', { method: 'web3_sha3', params: '["[1]"]' }),
  },
])

const notificationCases = [
  ...evm([
    {
      name: 'a notification is executed, charged and not answered',
      body: `{"jsonrpc":"2.0",${plain}}`,
      expect: silence(sha3, 1),
    },
    {
      name: 'a notification of a method that costs 3',
      body: '{"jsonrpc":"2.0","method":"eth_getBlockReceipts","params":["latest"]}',
      expect: silence({ method: 'eth_getBlockReceipts', params: '["latest"]' }, 3),
    },
    {
      name: 'a notification that the gateway answers itself',
      body: '{"jsonrpc":"2.0","method":"eth_accounts"}',
      expect: silence(null, 1),
    },
    {
      name: 'a notification that the node answers with an error',
      body: `{"jsonrpc":"2.0",${plain}}`,
      node: error('{"code":-32000,"message":"execution reverted"}'),
      expect: silence(sha3, 1),
    },
    {
      name: 'a notification of no method',
      body: '{"jsonrpc":"2.0","method":"nope","params":[]}',
      expect: silence(null, 0),
    },
    {
      name: 'a notification with wrong params',
      body: '{"jsonrpc":"2.0","method":"web3_sha3","params":[]}',
      expect: silence(null, 0),
    },
  ]),
  ...solana([
    {
      name: 'a notification on Solana',
      body: '{"jsonrpc":"2.0","method":"getInflationGovernor"}',
      expect: silence({ method: 'getInflationGovernor', params: '[]' }, 1),
    },
  ]),
]

const results = [
  'null',
  'false',
  '-0',
  '1.0',
  '1e400',
  '18446744073709551615',
  '""',
  '"\\u0041\\/\\ud83d\\ude00é"',
  '[]',
  '{}',
  '{ "a" : [ 1 ,2.50 ] ,"result":{"id":9},"a":"]}" }',
]
const errors = [
  '{"code":-32000,"message":"execution reverted","data":"0x08c379a0"}',
  '{ "code" : 3, "message":"r\\u00e9vert" , "data":{"x":18446744073709551615} }',
  '{"code":-32602,"message":"invalid argument 0: hex string without 0x prefix"}',
]

const answerCases = evm([
  ...results.map(raw => ({
    name: `the result ${raw} comes back as it is`,
    body: call(plain),
    node: result(raw),
    expect: answer('1', sha3, raw),
  })),
  ...errors.map(raw => ({
    name: `the node's error ${raw} comes back as it is and is charged`,
    body: call(plain),
    node: error(raw),
    expect: { kind: 'answer' as const, id: '1', member: 'error' as const, raw, sent: sha3, cost: 1 },
  })),
  {
    name: 'a reply with whitespace, another order and more members',
    body: call(plain),
    node: reply(
      200,
      id => `\n{ "result" : [1 , 2] ,"extra":{"result":0},\t"id" : ${id} , "jsonrpc":"2.0" }\n`,
    ),
    expect: answer('1', sha3, '[1 , 2]'),
  },
  {
    name: 'a JSON-RPC error with HTTP status 400 is an answer',
    body: call(plain),
    node: reply(400, id => `{"jsonrpc":"2.0","id":${id},"error":{"code":-32000,"message":"bad"}}`),
    expect: {
      kind: 'answer',
      id: '1',
      member: 'error',
      raw: '{"code":-32000,"message":"bad"}',
      sent: sha3,
      cost: 1,
    },
  },
  {
    name: 'a result of 600 KiB',
    body: call(plain),
    node: result(`["${'\\u0041z'.repeat(85_000)}",18446744073709551615]`),
    expect: answer('1', sha3, `["${'\\u0041z'.repeat(85_000)}",18446744073709551615]`),
  },
])

const localCases = evm(
  [
    ['eth_chainId', `"0x${evmChainId.toString(16)}"`],
    ['net_version', `"${evmChainId}"`],
    ['eth_accounts', '[]'],
    ['eth_mining', 'false'],
    ['eth_hashrate', '"0x0"'],
    ['net_listening', 'true'],
  ].map(([method, raw]) => ({
    name: `${method} is answered here`,
    body: call(`"method":"${method}","params":[]`),
    expect: answer('1', null, raw),
  })),
)

/** Every message of the contract that is JSON, one by one. */
export const messageCases: readonly MessageCase[] = [
  ...idCases,
  ...shapeCases,
  ...nameCases,
  ...methodCases,
  ...paramsCases,
  ...readerCases,
  ...jsonParamsCases,
  ...notificationCases,
  ...answerCases,
  ...localCases,
]

/** Texts that are no JSON: wherever they stand in a body, the whole body is a parse_error. */
export const brokenTexts: readonly string[] = [
  '{"jsonrpc":"2.0","id":1,"method":"web3_sha3","params":["0x00"]',
  '{"jsonrpc":"2.0","id":1,"method":"web3_sha3","params":["0x00"],}',
  '{"jsonrpc":"2.0","id":1,"method":"web3_sha3" "params":["0x00"]}',
  '{"jsonrpc":"2.0","id":1,"method":"web3_sha3","params":["0x00",]}',
  '{"jsonrpc":"2.0","id":1,"method":"web3_sha3","params":["0x00"}',
  '{"jsonrpc":"2.0","id":1,"method":"web3_sha3","params":["0x00]}',
  "{'jsonrpc':'2.0','id':1,'method':'web3_sha3','params':['0x00']}",
  '{jsonrpc:"2.0","id":1,"method":"web3_sha3","params":["0x00"]}',
  ...['01', '+1', '.5', '1.', '1e', '0x1', '-', 'NaN', 'Infinity', 'undefined', 'nul', 'True'].map(
    id => `{"jsonrpc":"2.0","id":${id},"method":"web3_sha3","params":["0x00"]}`,
  ),
  ...[
    '01',
    '1.e3',
    'NaN',
    '"\\x"',
    '"\\u12g4"',
    '"\\"',
    '"a\nb"',
    '"a\tb"',
    '"\u0000"',
    '{"a" 1}',
    '{1:2}',
    '{"a":}',
    ',',
  ].map(item => `{"jsonrpc":"2.0","id":1,"method":"web3_sha3","params":[${item}]}`),
  '{"jsonrpc":"2.0","id":1,"method":"web3_sha3","params":["0x00"]}/* comment */',
  '{"jsonrpc":"2.0","id":1,"method":"web3_sha3","params":["0x00"],"other":[1 2]}',
]

const valid = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"web3_sha3","params":["0x00"]}')
const withBytes = (...bytes: number[]) =>
  Buffer.concat([valid.subarray(0, -4), Buffer.from(bytes), valid.subarray(-4)])

/** Whole bodies that are no UTF-8 JSON text: parse_error. */
export const brokenBodies: readonly { readonly name: string; readonly bytes: Buffer }[] = [
  ...brokenTexts.map(broken => ({ name: broken, bytes: Buffer.from(broken) })),
  { name: 'nothing', bytes: Buffer.alloc(0) },
  { name: 'only whitespace', bytes: Buffer.from(' \r\n\t') },
  { name: 'a BOM', bytes: Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), valid]) },
  { name: 'UTF-16', bytes: Buffer.from(`\ufeff${valid.toString()}`, 'utf16le') },
  { name: 'a byte 0xff inside a string', bytes: withBytes(0xff) },
  { name: 'an overlong encoding inside a string', bytes: withBytes(0xc0, 0x80) },
  { name: 'an encoded surrogate inside a string', bytes: withBytes(0xed, 0xa0, 0x80) },
  { name: 'a sequence cut short inside a string', bytes: withBytes(0xe2, 0x82) },
  { name: 'a byte beyond Unicode inside a string', bytes: withBytes(0xf5, 0x80, 0x80, 0x80) },
  { name: 'a NUL behind', bytes: Buffer.concat([valid, Buffer.from([0])]) },
  { name: 'a no-break space in front', bytes: Buffer.concat([Buffer.from('\u00a0'), valid]) },
  { name: 'two bodies', bytes: Buffer.concat([valid, valid]) },
  { name: 'two lines', bytes: Buffer.concat([valid, Buffer.from('\n'), valid]) },
  { name: 'a bracket behind', bytes: Buffer.concat([valid, Buffer.from(']')]) },
]
