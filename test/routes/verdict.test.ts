import { Readable } from 'node:stream'
import t from 'tap'
import type { Exchange } from '../../src/routes/transport/exchange.ts'
import { judge as judgeCall, type Verdict } from '../../src/routes/transport/verdict.ts'

const call = { family: 'evm', method: 'eth_getBalance', params: '[]', isRange: false, rows: [] } as const
const judge = (exchange: Exchange, id: number): Verdict => judgeCall(exchange, id, call)
const whole = (status: number, body: string): Exchange => ({ kind: 'whole', status, retryAfter: null, body })
const error = (code: number, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message } })

t.test('results and errors about the call are answers', t => {
  t.match(judge(whole(200, '{"id":1,"result":null}'), 1), { kind: 'result', result: 'null' })
  for (const [code, message] of [
    [3, 'execution reverted'],
    [-32602, 'invalid argument 0: hex string without 0x prefix'],
    [-32000, 'insufficient funds for gas * price + value'],
    [-32000, 'nonce too low'],
    [-32700, 'parse error'],
  ] as const) {
    t.match(judge(whole(200, error(code, message)), 1), { kind: 'error', code }, message)
    t.match(judge(whole(400, error(code, message)), 1), { kind: 'error', code }, `${message} with HTTP 400`)
  }
  t.end()
})

t.test('what another route may not have is a failure', t => {
  const cases: [Exchange, string, string][] = [
    [whole(200, error(-32000, 'missing trie node abc (path )')), 'missing', 'upstream_error'],
    [whole(200, error(-32000, 'Required Historical State Unavailable')), 'missing', 'upstream_error'],
    [whole(200, error(4444, 'pruned history unavailable')), 'missing', 'upstream_error'],
    [whole(200, error(-32601, 'the method x does not exist')), 'unsupported', 'upstream_error'],
    [whole(200, error(-32005, 'daily request count exceeded')), 'limited', 'no_route'],
    [whole(200, error(429, 'slow down')), 'limited', 'no_route'],
    [whole(200, error(-32603, 'boom')), 'internal', 'upstream_error'],
    [whole(429, error(-32000, 'x')), 'limited', 'no_route'],
    [whole(401, '{}'), 'http_401', 'no_route'],
    [whole(402, error(-32000, 'pay first')), 'http_402', 'no_route'],
    [whole(403, error(-32000, 'forbidden')), 'http_403', 'no_route'],
    [whole(302, ''), 'http_302', 'upstream_error'],
    [whole(503, error(-32000, 'x')), 'http_503', 'upstream_error'],
    [whole(200, '<html>'), 'bad_reply', 'upstream_error'],
    [whole(200, ''), 'bad_reply', 'upstream_error'],
    [whole(200, '{"id":2,"result":1}'), 'stray_reply', 'upstream_error'],
    [whole(400, '{"id":1,"result":1}'), 'bad_reply', 'upstream_error'],
    [{ kind: 'broken', how: 'unreachable', sent: false }, 'unreachable', 'no_route'],
    [{ kind: 'broken', how: 'reset', sent: true }, 'reset', 'upstream_error'],
    [{ kind: 'broken', how: 'timeout', sent: true }, 'timeout', 'upstream_timeout'],
    [{ kind: 'broken', how: 'too_large', sent: true }, 'too_large', 'response_too_large'],
  ]
  for (const [exchange, why, reason] of cases)
    t.match(judge(exchange, 1), { kind: 'failure', why, refusal: { reason } }, why)
  t.end()
})

t.test('a long reply has its result or error in the part that is held back, or is none', t => {
  const open = (head: string): Exchange => ({
    kind: 'open',
    status: 200,
    head: Buffer.from(head),
    tail: Readable.from([]),
  })
  t.match(judge(open(`{"id":1,"result":["${'a'.repeat(300_000)}`), 1), {
    kind: 'open',
    member: 'result',
  })
  for (const head of [' '.repeat(300_000), `{"more":"${'a'.repeat(300_000)}`, `<html>${'a'.repeat(300_000)}`])
    t.match(judge(open(head), 1), { kind: 'failure', why: 'bad_reply', fault: true })
  t.end()
})

t.test('an error object that is too long to hold is judged by its begin', t => {
  const long = 'a'.repeat(300_000)
  const judged = (error: string) => {
    const head = Buffer.from(`{"jsonrpc":"2.0","id":1,"error":${error}`)
    return judge({ kind: 'open', status: 200, head, tail: Readable.from([]) }, 1)
  }
  for (const limited of [
    `{"code":-32005,"message":"rate limit exceeded","data":"${long}`,
    `{"message":"rate limit exceeded","code":-32005,"data":{"a":["${long}`,
    `{"code":-32005,"message":"rate limit exceeded ${long}`,
  ])
    t.match(judged(limited), { kind: 'failure', why: 'limited', complaint: { from: 'text' } })
  t.match(judged(`{"code":-32000,"message":"missing trie node ${long}`), {
    why: 'missing',
    passOn: true,
    said: { code: -32000, message: /^missing trie node a{4000}/ },
  })
  for (const answer of [
    `{"code":-32000,"message":"rate limit exceeded","data":"0x${'00'.repeat(150_000)}`,
    `{"code":3,"message":"rate limit exceeded ${long}`,
    `{"data":["${long}`,
    `{"message":"rate limit exceeded ${long}`,
    `{"code":"-32005","message":"rate limit exceeded ${long}`,
    `{"message":"rate limit exceeded","data":"${long}","code":-32005`,
    `[${long}`,
  ])
    t.match(judged(answer), { kind: 'open', member: 'error' }, answer.slice(0, 60))
  t.end()
})
