import t from 'tap'
import { memberOf } from '../../src/jsonrpc/elements.ts'
import { readReply } from '../../src/jsonrpc/message.ts'

t.test('the result is kept byte for byte, whatever the order of the members', t => {
  const result = '{"rentEpoch": 18446744073709551615, "x":"\\u00e9"}'
  t.strictSame(readReply(`{"jsonrpc":"2.0","id":7,"result":${result}}`, 7), { kind: 'result', result })
  t.strictSame(readReply(`{"result":${result},"id":7,"jsonrpc":"2.0"}\n`, 7), { kind: 'result', result })
  t.strictSame(readReply('{"id":7,"result":null,"error":null}', 7), { kind: 'result', result: 'null' })
  t.end()
})

t.test('an error is an answer, also with id null', t => {
  const error = '{"code":3,"message":"execution reverted","data":"0x08c379a0"}'
  const expected = { kind: 'error', error, code: 3, message: 'execution reverted' }
  t.strictSame(readReply(`{"jsonrpc":"2.0","id":7,"error":${error}}`, 7), expected)
  const unaddressed = { ...expected, isUnaddressed: true }
  t.strictSame(readReply(`{"jsonrpc":"2.0","id":null,"error":${error}}`, 7), unaddressed)
  t.strictSame(
    readReply(`{"jsonrpc":"2.0","id":7,"result":"partial","error":${error}}`, 7),
    expected,
    'Erigon appends it',
  )
  t.end()
})

t.test('anything else is no reply', t => {
  const bad = [
    '',
    '<html>',
    '{',
    '{"id":7,"result":1',
    '{"id":7,"result":1}x',
    '{"id":8,"result":1}',
    '{"id":"7","result":1}',
    '{"id":7}',
    '[{"id":7,"result":1}]',
    '{"id":7,"error":"no"}',
    '{"id":7,"error":{"code":"x"}}',
    '{"id":7,"Result":1,"result":2}',
  ]
  for (const body of bad) t.equal(readReply(body, 7), null, body)
  t.end()
})

t.test('a member that two parsers would read differently is ambiguous', t => {
  t.equal(memberOf('{"a":1, "fromBlock" : "0x1"}', 'fromBlock'), '"0x1"')
  t.equal(memberOf('{"a":1}', 'fromBlock'), undefined)
  t.equal(memberOf('{"fromBlock":1,"fromBlock":2}', 'fromBlock'), null)
  t.equal(memberOf('{"fromBlock":1,"FROMBLOCK":2}', 'fromBlock'), null)
  t.equal(memberOf('{"fromBloc\\u212a":2}', 'fromBlock'), null)
  t.end()
})

t.test('a long reply is UTF-8 to its last byte, wherever its characters stand', t => {
  const body = (text: Buffer) => `{"id":7,"result":"${text.toString('latin1')}"}`
  for (const length of [1_000, 65_516, 65_517, 65_518, 200_000]) {
    const ascii = Buffer.alloc(length, 'a')
    t.match(readReply(body(ascii), 7), { kind: 'result' }, `${length} ASCII characters`)
    t.match(readReply(body(Buffer.concat([ascii, Buffer.from('é'), ascii])), 7), { kind: 'result' })
    t.equal(readReply(body(Buffer.concat([ascii, Buffer.from([0xe9]), ascii])), 7), null)
    t.equal(readReply(body(Buffer.concat([ascii, Buffer.from([0xc3])])), 7), null)
  }
  t.end()
})
