import t from 'tap'
import { isBad, scanMessage } from '../../src/jsonrpc/message.ts'
import type { Message } from '../../src/jsonrpc/message.ts'

const scan = (text: string | Buffer): Message => scanMessage(Buffer.from(text as string), 64)
const single = (text: string): Record<string, unknown> => {
  const message = scan(text)
  if (message.kind !== 'single')
    return { kind: message.kind, reason: message.kind === 'refused' ? message.refusal.reason : '' }
  const { item } = message
  if (isBad(item)) return { id: item.id, reason: item.refusal.reason }
  const { id, method, params } = item
  return { id, method, params }
}

t.test('the raw bytes of id and params are kept', t => {
  t.strictSame(
    single('{"jsonrpc":"2.0","id":12345678901234567890,"method":"eth_call","params":[ 1e400, {"a" : -0} ]}'),
    {
      id: '12345678901234567890',
      method: 'eth_call',
      params: '[ 1e400, {"a" : -0} ]',
    },
  )
  t.strictSame(single(' {"params":null,"method":"m","id":"\\u0041","jsonrpc":"2.0"} '), {
    id: '"\\u0041"',
    method: 'm',
    params: '[]',
  })
  t.strictSame(single('{"jsonrpc":"2.0","method":"eth_\\u0063all"}'), {
    id: undefined,
    method: 'eth_call',
    params: '[]',
  })
  t.end()
})

t.test('what two parsers could read differently is refused', t => {
  const cases = {
    twice: '{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}',
    'in another case': '{"jsonrpc":"2.0","id":1,"method":"a","METHOD":"b"}',
    'folded with U+017F': '{"jsonrpc":"2.0","id":1,"method":"a","param\u017f":[]}',
    'folded by an escape': '{"jsonrpc":"2.0","id":1,"method":"a","param\\u017f":[]}',
    'twice by an escape': '{"jsonrpc":"2.0","id":1,"method":"a","\\u006dethod":"b"}',
  }
  for (const [name, text] of Object.entries(cases))
    t.strictSame(single(text), { id: '1', reason: 'invalid_request' }, name)
  t.strictSame(single('{"jsonrpc":"2.0","id":1,"method":"a","__proto__":{"x":1},"extra":0}'), {
    id: '1',
    method: 'a',
    params: '[]',
  })
  t.end()
})

t.test('an id that cannot be echoed is answered with null', t => {
  for (const id of ['{}', '[]', 'true', `"${'x'.repeat(1023)}"`])
    t.strictSame(
      single(`{"jsonrpc":"2.0","id":${id},"method":"a"}`),
      { id: 'null', reason: 'invalid_request' },
      id.slice(0, 20),
    )
  t.end()
})

t.test('a batch keeps its items in order, the bad ones too', t => {
  const message = scan(
    '[{"jsonrpc":"2.0","id":1,"method":"a"}, 5, [], {"jsonrpc":"2.0","id":2,"method":"b"}]',
  )
  t.equal(message.kind, 'batch')
  if (message.kind === 'batch')
    t.strictSame(
      message.items.map(item => (isBad(item) ? item.refusal.reason : item.method)),
      ['a', 'invalid_request', 'invalid_request', 'b'],
    )
  t.end()
})

t.test('broken bodies are refused whole', t => {
  const refused = (body: string | Buffer): string => {
    const message = scan(body)
    return message.kind === 'refused' ? message.refusal.reason : message.kind
  }
  for (const body of [
    '',
    ' ',
    '{',
    '[',
    '[{}',
    '{"a":1,}',
    '{} x',
    '[{}] []',
    '\ufeff{}',
    '[1,]',
    '{"jsonrpc":"2.0","id":1,"method":"a"},',
  ])
    t.equal(refused(body), 'parse_error', JSON.stringify(body))
  t.equal(refused(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), 'parse_error', 'invalid UTF-8')
  t.equal(refused('[]'), 'invalid_request')
  t.equal(refused('['.repeat(65)), 'invalid_request')
  t.equal(
    refused(`{"jsonrpc":"2.0","id":1,"method":"a","params":${'['.repeat(63)}${']'.repeat(63)}}`),
    'single',
    '64 levels in all',
  )
  t.equal(
    refused(`{"jsonrpc":"2.0","id":1,"method":"a","params":${'['.repeat(64)}${']'.repeat(64)}}`),
    'invalid_request',
  )
  t.end()
})
