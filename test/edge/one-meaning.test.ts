import t, { type Test } from 'tap'
import { message } from '../support/access.ts'
import { hostOf } from '../support/config-files.ts'
import { echo } from '../support/node-replies.ts'
import { readsOffers } from '../support/node-line.ts'
import { observe } from '../support/observe.ts'
import { repliesIn } from '../support/raw-replies.ts'
import { refusedItem } from '../support/refusals.ts'
import { exchange } from '../support/tcp.ts'
import { startBench } from '../contract/message-bench.ts'

/** Bytes that two readers could take for different requests: there is one answer, or none, and never a second meaning. */
const { gateway, nodes, access: create } = await startBench(t)
const access = await create('evm')
const node = nodes.evm
node.on('web3_sha3', echo)

const body = message('web3_sha3', ['first'], 'first')
const host = hostOf('alpha')
const line = `POST /v1/rpc/${access.key} HTTP/1.1\r\n`
const start = `${line}Host: ${host}\r\nContent-Type: application/json\r\n`
const whole = (text: string, headers = '') =>
  `${start}${headers}Content-Length: ${text.length}\r\n\r\n${text}`
/** What an attacker hopes will be read as a request of its own. */
const hidden = whole(message('web3_sha3', ['hidden'], 'hidden'))
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const chunked = `${chunk(body)}0\r\n\r\n`
const te = 'Transfer-Encoding: chunked\r\n'

/** Sends bytes and the hidden request behind them; the one answer must be a refusal of ours that ends the connection. */
const refusedAlone = async (t: Test, bytes: string, status = 400, reason = 'invalid_request') => {
  const before = node.calls.length
  const replies = repliesIn(await exchange(gateway.port, bytes + hidden))
  t.strictSame(
    replies.map(({ status }) => status),
    [status],
    JSON.stringify(replies.map(({ text }) => text)),
  )
  t.equal(replies[0]?.headers.connection, 'close')
  t.equal(replies[0]?.headers['content-type'], 'application/json')
  t.equal(replies[0]?.headers['access-control-allow-origin'], '*')
  const { requestId } = refusedItem(t, replies[0]?.text ?? '{}', { reason: reason as 'invalid_request' })
  t.equal(replies[0]?.headers['x-request-id'], requestId)
  t.equal(node.calls.length, before, 'nothing reached the node')
  return replies[0]
}

const length = `Content-Length: ${body.length}\r\n`
const faults: Record<string, [bytes: string, status?: number, reason?: string]> = {
  'a length, then chunks': [`${start}${length}${te}\r\n0\r\n\r\n`],
  'chunks, then a length': [`${start}${te}${length}\r\n0\r\n\r\n`],
  'a length twice': [`${start}${length}${length}\r\n${body}`],
  'two lengths': [`${start}${length}Content-Length: 0\r\n\r\n${body}`],
  'a list of lengths': [`${start}Content-Length: ${body.length}, ${body.length}\r\n\r\n${body}`],
  'a length with a plus': [`${start}Content-Length: +${body.length}\r\n\r\n${body}`],
  'a negative length': [`${start}Content-Length: -1\r\n\r\n${body}`],
  'a hexadecimal length': [`${start}Content-Length: 0x${body.length.toString(16)}\r\n\r\n${body}`],
  'a length above 64 bits': [`${start}Content-Length: 1844674407370955${body.length}61600\r\n\r\n${body}`],
  'an empty length': [`${start}Content-Length: \r\n\r\n${body}`],
  'a length in two words': [`${start}Content-Length: 1 2\r\n\r\n${body}`],
  'an unknown transfer coding': [`${start}Transfer-Encoding: xchunked\r\n\r\n${chunked}`],
  'compressed chunks': [`${start}Transfer-Encoding: gzip, chunked\r\n\r\n${chunked}`],
  'chunks that are not last': [`${start}Transfer-Encoding: chunked, identity\r\n\r\n${chunked}`],
  'chunks of chunks': [`${start}Transfer-Encoding: chunked, chunked\r\n\r\n${chunked}`],
  'chunks twice': [`${start}${te}${te}\r\n${chunked}`],
  identity: [`${start}Transfer-Encoding: identity\r\n\r\n${chunked}`],
  'an empty transfer coding': [`${start}Transfer-Encoding: \r\n\r\n`],
  'a quoted transfer coding': [`${start}Transfer-Encoding: "chunked"\r\n\r\n${chunked}`],
  'a transfer coding with a parameter': [`${start}Transfer-Encoding: chunked;q=1\r\n\r\n${chunked}`],
  'a vertical tab behind chunked': [`${start}Transfer-Encoding: chunked\x0b\r\n\r\n${chunked}`],
  'a space in front of the colon': [`${start}Transfer-Encoding : chunked\r\n\r\n${chunked}`],
  'a tab in front of the colon': [`${start}Content-Length\t: ${body.length}\r\n\r\n${body}`],
  'a folded line': [`${start}X-Long: a\r\n b\r\n${length}\r\n${body}`],
  'a folded transfer coding': [`${start}Transfer-Encoding:\r\n chunked\r\n\r\n${chunked}`],
  'a space in front of the first name': [`${line} Host: ${host}\r\n${length}\r\n${body}`],
  'a line without a colon': [`${start}nothing\r\n${length}\r\n${body}`],
  'a line without a name': [`${start}: x\r\n${length}\r\n${body}`],
  'lines that end in LF alone': [whole(body).replaceAll('\r\n', '\n')],
  'one line that ends in LF alone': [`${start}X: a\n${te}\r\n${chunked}`],
  'a bare CR inside a line': [`${start}X: a\r${te}\r\n${chunked}`],
  'an LF that ends the head': [`${start}${length}\n${body}`],
  'a NUL in a value': [`${start}X: a\0b\r\n${length}\r\n${body}`],
  'a NUL in a name': [`${start}X\0: a\r\n${length}\r\n${body}`],
  'a NUL in the target': [whole(body).replace('/v1', '/\0v1')],
  'a space in the target': [whole(body).replace('/v1', '/ v1')],
  'HTTP/0.9': ['GET /\r\n\r\n', 505],
  'HTTP/2.0': [whole(body).replace('HTTP/1.1', 'HTTP/2.0'), 505],
  'HTTP/1.2': [whole(body).replace('HTTP/1.1', 'HTTP/1.2')],
  'small letters for HTTP': [whole(body).replace('HTTP/1.1', 'http/1.1')],
  'the preface of HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  'chunks in HTTP/1.0': [`${start.replace('1.1', '1.0')}${te}\r\n${chunked}`],
  'two Host lines': [whole(body, 'Host: nowhere.example.test\r\n')],
  'the same Host twice': [whole(body, `hOST: ${host}\r\n`)],
  'no Host': [whole(body).replace(/Host: .*?\r\n/, '')],
  'another expectation': [whole(body, 'Expect: 200-ok\r\n'), 417],
  'two expectations': [whole(body, 'Expect: 100-continue, other\r\n'), 417],
  CONNECT: [`CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 405, 'method_not_allowed'],
  'a handshake with a body': [
    `GET /v1/rpc/${access.key} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nContent-Length: 5\r\n\r\nhello',
  ],
}

const badChunks: Record<string, string> = {
  'a negative chunk': `-5\r\nhello\r\n0\r\n\r\n`,
  'a chunk with a plus': `+5\r\nhello\r\n0\r\n\r\n`,
  'a chunk with 0x': `0x5\r\nhello\r\n0\r\n\r\n`,
  'a space behind the size': `5 \r\nhello\r\n0\r\n\r\n`,
  'a space in front of the size': ` 5\r\nhello\r\n0\r\n\r\n`,
  'no size': `\r\nhello\r\n0\r\n\r\n`,
  'a size above 64 bits': `fffffffffffffffff\r\nhello\r\n0\r\n\r\n`,
  'an LF behind the size': `5\nhello\r\n0\r\n\r\n`,
  'an LF in an extension': `5;a\nbc\r\nhello\r\n0\r\n\r\n`,
  'an LF behind the data': `5\r\nhello\n0\r\n\r\n`,
  'more data than the size': `5\r\nhelloXX0\r\n\r\n`,
  'less data than the size': `6\r\nhello\r\n0\r\n\r\n`,
  'a broken trailer': `5\r\nhello\r\n0\r\nX\r\n\r\n`,
  'a length as a trailer': `5\r\nhello\r\n0\r\nContent-Length: 3\r\n\r\n`,
  'extensions without end': `5;${'a'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`,
}

t.test('what has two meanings has none here', async t => {
  const { requests } = await access.usage()
  for (const [name, [bytes, status, reason]] of Object.entries(faults))
    await t.test(name, t => refusedAlone(t, bytes, status, reason))
  for (const [name, bytes] of Object.entries(badChunks))
    await t.test(name, t => refusedAlone(t, `${start}${te}\r\n${bytes}`))
  t.equal((await access.usage()).requests, requests, 'nothing was charged')
})

t.test('CONNECT says what is allowed', async t => {
  const reply = await refusedAlone(t, faults['CONNECT']![0], 405, 'method_not_allowed')
  t.match(reply?.headers.allow, /\bPOST\b/)
})

t.test('TRACE is not allowed and gives nothing back', async t => {
  const [reply] = repliesIn(
    await exchange(
      gateway.port,
      `TRACE /v1/rpc/${access.key} HTTP/1.1\r\nHost: ${host}\r\nCookie: secret\r\nConnection: close\r\n\r\n`,
    ),
  )
  t.equal(reply?.status, 405)
  t.notMatch(JSON.stringify(reply), /secret|tg_/)
})

const allowed: Record<string, string> = {
  'a tab in front of chunked': `${start}Transfer-Encoding:\tchunked\r\n\r\n${chunked}`,
  'chunked in capitals': `${start}TRANSFER-ENCODING: CHUNKED\r\n\r\n${chunked}`,
  'chunk extensions': `${start}${te}\r\n${chunk(body).replace('\r\n', ';a=b;c="d"\r\n')}0;last\r\n\r\n`,
  'zeros in front of a size': `${start}${te}\r\n000${chunk(body)}000\r\n\r\n`,
  'a trailer that says what headers say': `${start}${te}\r\n${chunk(body)}0\r\nHost: evil\r\nX-Forwarded-For: 1.2.3.4\r\nContent-Encoding: gzip\r\n\r\n`,
  'empty lines in front': `\r\n\r\n${whole(body)}`,
  'a HTTP/1.0 request that stays': whole(body, 'Connection: keep-alive\r\n').replace('HTTP/1.1', 'HTTP/1.0'),
  'an absolute target': whole(body).replace('POST /', `POST http://${host}/`),
  'an absolute target whose host is not that of Host': whole(body)
    .replace('POST /', `POST http://${host}/`)
    .replace(`Host: ${host}`, 'Host: nowhere.example.test'),
}

t.test('what has one meaning is served, and so is what follows', async t => {
  const last = whole(message('web3_sha3', ['second'], 'second'), 'Connection: close\r\n')
  for (const [name, bytes] of Object.entries(allowed)) {
    const seen = await observe(access, node, () => exchange(gateway.port, bytes + last))
    const replies = repliesIn(seen.value)
    t.strictSame(
      replies.map(({ status, text }) => [status, JSON.parse(text).result as unknown]),
      [
        [200, ['first']],
        [200, ['second']],
      ],
      name,
    )
    t.equal(seen.requests, 2)
  }
})

t.test('the host of an absolute target counts, not the Host header', async t => {
  const [reply] = repliesIn(
    await exchange(
      gateway.port,
      whole(body, 'Connection: close\r\n').replace('POST /', 'POST http://nowhere.example.test/'),
    ),
  )
  t.equal(reply?.status, 404)
  refusedItem(t, reply?.text ?? '', { reason: 'not_found' })
})

t.test('no trick of the path leads to a call', async t => {
  const paths = [
    `/v1/rpc%2f${access.key}`,
    `/%76%31/rpc/${access.key}`,
    `/v1/rpc/${access.key}%00`,
    `/v1/rpc/${access.key}%20`,
    `/v1/rpc/%2e%2e/rpc/${access.key}`,
    `/v1/rpc/./${access.key}`,
    `/v1/rpc/;${access.key}`,
    `/v1/rpc/${access.key};x`,
    `/v1/rpc/${access.key}#x`,
    `/v1\\rpc\\${access.key}`,
    `/v1/rpc/${encodeURIComponent(access.key).replace('_', '%5f')}`,
    `*`,
  ]
  const seen = await observe(access, node, async () =>
    Promise.all(
      paths.map(async path => {
        const bytes = whole(body, 'Connection: close\r\n').replace(`/v1/rpc/${access.key}`, path)
        const [reply] = repliesIn(await exchange(gateway.port, bytes))
        return reply?.status
      }),
    ),
  )
  for (const [i, status] of seen.value.entries())
    t.ok([400, 401, 404, 429].includes(status ?? 0), `${paths[i]}: ${status}`)
  t.same(seen.sent, [])
  t.equal(seen.requests, 0)
})

t.test('a broken request behind good ones takes nothing from their answers', async t => {
  const replies = repliesIn(
    await exchange(gateway.port, whole(body) + whole(body) + `${start}${length}${te}\r\n${hidden}`),
  )
  t.strictSame(
    replies.map(({ status }) => status),
    [200, 200, 400],
  )
})

const offer = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n'

t.test('an offer of HTTP/2 changes nothing about what is read', { skip: readsOffers }, async t => {
  const last = whole(message('web3_sha3', ['second'], 'second'), 'Connection: close\r\n')
  const good = [whole(body, offer), `${start}${offer}${te}\r\n${chunked}`]
  for (const bytes of good) {
    const replies = repliesIn(await exchange(gateway.port, bytes + last))
    t.strictSame(
      replies.map(({ status, text }) => [status, JSON.parse(text).result as unknown]),
      [
        [200, ['first']],
        [200, ['second']],
      ],
    )
  }
  for (const name of [
    'a length, then chunks',
    'chunks, then a length',
    'two lengths',
    'compressed chunks',
    'chunks that are not last',
    'two Host lines',
    'chunks in HTTP/1.0',
    'another expectation',
  ]) {
    const [bytes, status, reason] = faults[name]!
    await t.test(name, t => refusedAlone(t, bytes.replace('\r\n', `\r\n${offer}`), status, reason))
  }
  for (const [name, bytes] of Object.entries(badChunks))
    await t.test(name, t => refusedAlone(t, `${start}${offer}${te}\r\n${bytes}`))
})
