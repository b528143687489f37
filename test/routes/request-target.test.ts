import t from 'tap'
import { operatorHeaders, requestTarget } from '../../src/routes/transport/request-target.ts'

const target = (http: string, headers: Record<string, string> = {}) => requestTarget({ http, headers })
const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`

/** What each call has. */
const ours = 'connection: keep-alive\r\ncontent-type: application/json\r\naccept: application/json\r\n'

t.test("a route's URL gives origin and path, and never shows its user there", t => {
  t.match(target('http://127.0.0.1:8545'), { origin: 'http://127.0.0.1:8545', path: '/' })
  t.match(target('https://u:p@node.example:443/v2/k%20y?a=b#c'), {
    origin: 'https://node.example',
    path: '/v2/k%20y?a=b',
    fields: `host: node.example\r\nauthorization: ${basic('u:p')}\r\n${ours}`,
  })
  t.end()
})

t.test(
  'a user in the URL is Basic authentication unless a header says otherwise, however it is spelled',
  t => {
    const user = 'http://caf%C3%A9:p%3Ass%40@n/'
    t.strictSame(operatorHeaders({ http: user, headers: {} }), { authorization: basic('café:p:ss@') })
    t.strictSame(operatorHeaders({ http: 'http://u@n/', headers: {} }), { authorization: basic('u:') })
    const nameless = operatorHeaders({ http: 'http://:s%2Fcret@n/', headers: {} })
    t.strictSame(nameless, { authorization: basic(':s/cret') }, 'bug: a password without a user was not sent')
    const own = { AuthoriZation: 'Bearer x' }
    t.strictSame(operatorHeaders({ http: user, headers: own }), own)
    t.strictSame(operatorHeaders({ http: 'http://n/', headers: { 'x-key': '1' } }), { 'x-key': '1' })
    t.end()
  },
)

t.test('what a call is written in is ours to say, however it is spelled', t => {
  const theirs = { 'x-key': '1', Accept: 'text/html', 'CONTENT-TYPE': 'text/plain', Connection: 'close' }
  t.equal(target('http://n/', theirs).fields, `host: n\r\nx-key: 1\r\n${ours}`)
  t.equal(
    target('http://n:81/', { HOST: 'inner' }).fields,
    `HOST: inner\r\n${ours}`,
    'another host is theirs',
  )
  t.equal(target('http://[::1]:81/').fields, `host: [::1]:81\r\n${ours}`)
  t.end()
})

t.test('bug: a certificate was to be for the address in the URL, whatever host the requests were for', t => {
  const name = (http: string, host?: string) =>
    target(http, host === undefined ? {} : { Host: host }).servername
  t.equal(name('https://127.0.0.1:81/', 'inner.example:443'), 'inner.example')
  t.equal(name('https://outer.example/', ' inner.example '), 'inner.example')
  t.equal(name('https://outer.example:81/'), null)
  for (const none of ['127.0.0.1:81', '[::1]:81', '', ':81', 'a b'])
    t.equal(name('https://outer.example/', none), null, none)
  t.end()
})
