import t from 'tap'
import { operatorHeaders, requestTarget } from '../../src/routes/transport/request-target.ts'

const target = (http: string, headers: Record<string, string> = {}) => requestTarget({ http, headers })
const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`

t.test("a route's URL gives origin and path, and never shows its user there", t => {
  t.match(target('http://127.0.0.1:8545'), { origin: 'http://127.0.0.1:8545', path: '/' })
  t.match(target('https://u:p@node.example:443/v2/k%20y?a=b#c'), {
    ...{ origin: 'https://node.example', path: '/v2/k%20y?a=b' },
    headers: { authorization: basic('u:p') },
  })
  t.end()
})

t.test(
  'a user in the URL is Basic authentication unless a header says otherwise, however it is spelled',
  t => {
    const user = 'http://caf%C3%A9:p%3Ass%40@n/'
    t.strictSame(operatorHeaders({ http: user, headers: {} }), { authorization: basic('café:p:ss@') })
    t.strictSame(operatorHeaders({ http: 'http://u@n/', headers: {} }), { authorization: basic('u:') })
    const own = { AuthoriZation: 'Bearer x' }
    t.strictSame(operatorHeaders({ http: user, headers: own }), own)
    t.strictSame(operatorHeaders({ http: 'http://n/', headers: { 'x-key': '1' } }), { 'x-key': '1' })
    t.end()
  },
)

t.test('what a call is written in is ours to say', t => {
  t.strictSame(target('http://n/', { 'x-key': '1', accept: 'text/html' }).headers, {
    ...{ 'x-key': '1', accept: 'application/json' },
    'content-type': 'application/json',
  })
  t.end()
})
