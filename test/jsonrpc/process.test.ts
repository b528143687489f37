import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { observe } from '../support/observe.ts'
import { rawItems, rawMember } from '../support/raw-json.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'

const node = await startSocketNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl, capabilities: ['debug', 'trace'] },
  ],
})
const access = await createAccess(gateway, 'paid', 'alpha')

/** What each answer in a reply says: `id reason`, or `id result`. */
function said(text: string): string | string[] {
  const one = (item: string) => {
    const { error } = JSON.parse(item) as { error?: { data: { reason: string } } }
    return `${rawMember(item, 'id')} ${error === undefined ? 'result' : error.data.reason}`
  }
  return text.startsWith('[') ? rawItems(text).map(one) : one(text)
}
const good = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"web3_sha3","params":["0x00"]}`
const bad = 'invalid_request'

/** Messages as clients get them wrong, and what they are told; what is well formed beside it is answered. */
const transcripts: readonly (readonly [body: string, says: string | string[]])[] = [
  ['[]', `null ${bad}`],
  ['[ \n ]', `null ${bad}`],
  ['[[]]', [`null ${bad}`]],
  ['[[],[]]', [`null ${bad}`, `null ${bad}`]],
  [`[[${good('1')}]]`, [`null ${bad}`]],
  [`[${good('1')},[${good('2')}],${good('3')}]`, ['1 result', `null ${bad}`, '3 result']],
  ['[1]', [`null ${bad}`]],
  ['[1,"a",null,true,{}]', Array.from({ length: 5 }, () => `null ${bad}`)],
  [`[{},${good('"x"')}]`, [`null ${bad}`, '"x" result']],
  ['[{"jsonrpc":"2.0","id":99}]', [`99 ${bad}`]],
  ['{"jsonrpc":"2.0","id":99}', `99 ${bad}`],
  ['{"jsonrpc":"2.0","id":null}', `null ${bad}`],
  ['{"jsonrpc":"2.0"}', `null ${bad}`],
  ['{"id":7,"method":"web3_sha3","params":["0x00"]}', `7 ${bad}`],
  ['{"jsonrpc":"1.0","id":7,"method":"web3_sha3","params":["0x00"]}', `7 ${bad}`],
  ['{"version":"1.1","id":7,"method":"web3_sha3","params":["0x00"]}', `7 ${bad}`],
  ['{"jsonrpc":2,"id":7,"method":"web3_sha3","params":["0x00"]}', `7 ${bad}`],
  ['{"jsonrpc":"2.00","id":7,"method":"web3_sha3","params":["0x00"]}', `7 ${bad}`],
  ['{"jsonrpc":" 2.0","id":7,"method":"web3_sha3","params":["0x00"]}', `7 ${bad}`],
  [good('[]'), `null ${bad}`],
  [good('{}'), `null ${bad}`],
  [good('[1]'), `null ${bad}`],
  [good('{"a":1}'), `null ${bad}`],
  [good('true'), `null ${bad}`],
  [`[${good('false')},${good('1')}]`, [`null ${bad}`, '1 result']],
  [
    `[${good('1')},${good('1')},${good('1.0')},${good('"1"')}]`,
    ['1 result', '1 result', '1.0 result', '"1" result'],
  ],
  [`[${good('null')},${good('null')}]`, ['null result', 'null result']],
  ['{"jsonrpc":"2.0","result":"0x1","id":1}', `1 ${bad}`],
  ['{"jsonrpc":"2.0","error":{"code":1,"message":"m"},"id":1}', `1 ${bad}`],
  ['"web3_sha3"', `null ${bad}`],
  ['0', `null ${bad}`],
  ['{"jsonrpc":"2.0","id":1,"method":"","params":[]}', '1 method_not_found'],
  ['{"jsonrpc":"2.0","id":1,"method":" ","params":[]}', '1 method_not_found'],
  ['{"jsonrpc":"2.0","id":1,"method":"_","params":[]}', '1 method_not_found'],
  ['{"jsonrpc":"2.0","id":1,"method":"__proto__","params":[]}', '1 method_not_found'],
  ['{"jsonrpc":"2.0","id":1,"method":"toString"}', '1 method_not_found'],
  ['{"jsonrpc":"2.0","id":1,"method":"rpc_modules","params":[]}', '1 method_not_found'],
]

t.test('what is no call is told so, over HTTP and over a socket', async t => {
  const client = await openClient(t, access)
  for (const [body, says] of transcripts) {
    t.strictSame(said((await access.post(body)).text), says, body)
    t.strictSame(said(await client.exchange(body)), says, `${body} in a frame`)
  }
})

const size = 5 * 1024 * 1024
/** A body of just the longest length that repeats a piece. */
const filled = (begin: string, piece: string, end: string) =>
  begin + piece.repeat(Math.floor((size - begin.length - end.length) / Buffer.byteLength(piece))) + end
const call = (method: string, id = '1') => `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":`

/** Bodies of 5 MiB that cost a careless reader seconds or gigabytes. */
const heavy: Readonly<Record<string, readonly [body: string, says: string]>> = {
  brackets: [filled('', '[', ''), `null ${bad}`],
  'objects in objects': [filled('', '{"a":', ''), `null ${bad}`],
  'brackets in params': [filled(call('web3_sha3'), '[', ''), `null ${bad}`],
  members: [filled('{"jsonrpc":"2.0","id":1,', '"a":0,', '"b":0}'), `null ${bad}`],
  'members of nearly the right name': [
    filled('{"jsonrpc":"2.0","id":1,', '"\\u006dethox":0,', '"b":0}'),
    `null ${bad}`,
  ],
  items: [filled('[', '1,', '1]'), `null batch_too_large`],
  'empty objects': [filled('[', '{},', '1]'), `null batch_too_large`],
  'a method': [filled('{"jsonrpc":"2.0","id":1,"method":"', 'a', '"}'), `1 ${bad}`],
  'an id': [filled('{"jsonrpc":"2.0","method":"m","id":"', 'a', '"}'), `null ${bad}`],
  'a number as the id': [filled('{"jsonrpc":"2.0","method":"m","id":', '1', '}'), `null ${bad}`],
  'a name': [filled('{"', '\\u00e9', '":1}'), `null ${bad}`],
  params: [filled(`${call('web3_sha3')}[`, '0,', '0]}'), '1 invalid_params'],
  'members of a filter': [
    filled(`${call('eth_getLogs')}[{`, '"fromBlocX":0,', '"b":0}]}'),
    '1 invalid_params',
  ],
  'digits of a block': [filled(`${call('eth_getLogs')}[{"fromBlock":`, '1', '}]}'), '1 invalid_params'],
  'digits of a hex block': [
    filled(`${call('eth_getLogs')}[{"fromBlock":"0x`, '0', '"}]}'),
    '1 invalid_params',
  ],
  'a tracer': [filled(`${call('debug_traceCall')}[{},"latest",{"tracer":"`, 'x', '"}]}'), '1 invalid_params'],
  'tracers in tracers': [
    filled(
      `${call('debug_traceCall')}[{},"latest",{"tracer":"muxTracer","tracerConfig":${'{"muxTracer":'.repeat(50)}"`,
      'x',
      `"${'}'.repeat(52)}]}`.replace('}}]}', '}]}'),
    ),
    '1 invalid_params',
  ],
  'params of management': [filled(`${call('service_account')}[{`, '"a":0,', '"b":0}]}'), '1 invalid_params'],
  'text that breaks off': [filled(`${call('web3_sha3')}["`, 'a', ''), 'null parse_error'],
  'white space': [filled('', ' ', ''), 'null parse_error'],
}

t.test('5 MiB of anything are refused, forwarded nowhere and charged to nobody', async t => {
  await get(`${gateway.adminUrl}/metrics`)
  const seen = await observe(access, node, async () => {
    for (const [name, [body, says]] of Object.entries(heavy)) {
      t.ok(Buffer.byteLength(body) > size - 20 && Buffer.byteLength(body) <= size, `${name}: its length`)
      t.equal(said((await access.post(body)).text), says, name)
      const { text } = await get(`${gateway.adminUrl}/metrics`)
      const lag = Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1])
      t.comment(`${name}: the loop stood still for at most ${Math.round(lag * 1000)} ms`)
    }
  })
  t.same(seen.sent, [])
  t.equal(seen.requests, 0)
  t.match(await access.call('web3_sha3', ['0x00']), { result: 'ok' })
})

t.test('params of management are not even decoded when they are long', async t => {
  const { error } = JSON.parse(
    (await access.post(`${call('service_account')}[{"a":"${'a'.repeat(65_536)}"}]}`)).text,
  )
  t.match(error.data, { reason: 'invalid_params', why: /at most 65536 bytes/ })
})

t.test('subscriptions do not keep 5 MiB', async t => {
  const client = await openClient(t, access)
  const body = filled(`${call('eth_subscribe')}["logs",{"address":["`, 'a', '"]}]}')
  t.equal(said(await client.exchange(body)), '1 invalid_params')
  t.same(node.subscriptions, [])
})
