import fc from 'fast-check'
import t from 'tap'
import { ReplyParser } from '../../src/routes/transport/reply-parser.ts'
import type { ReplyHead } from '../../src/routes/transport/reply-parser.ts'

interface Read {
  /** `whole` with what was left over, `cut` where more is to come, or `fault`. */
  readonly end: 'whole' | 'cut' | 'fault'
  readonly left: string
  readonly heads: readonly ReplyHead[]
  readonly body: string
  readonly keptFor: number
  readonly endsWithConnection: boolean
}

/** What is read of these pieces, each of which comes in a read of its own into the same memory. */
function read(pieces: readonly string[], parser = new ReplyParser()): Read {
  const memory = Buffer.alloc(64 * 1024)
  const heads: ReplyHead[] = []
  const parts: (Buffer | string)[] = []
  const listener = {
    onHead: (head: ReplyHead) => void heads.push(head),
    onData: (piece: Buffer | string) => void parts.push(piece),
  }
  const state = (end: Read['end'], left = '') => {
    const body = parts.map(part => part.toString('latin1')).join('')
    return { end, left, heads, body, keptFor: parser.keptFor, endsWithConnection: parser.endsWithConnection }
  }
  for (const [i, piece] of pieces.entries()) {
    memory.fill(0xff)
    memory.write(piece, 'latin1')
    const end = parser.read(memory, piece.length, listener)
    if (end === 'fault') return state('fault')
    if (end !== null) return state('whole', piece.slice(end) + pieces.slice(i + 1).join(''))
  }
  return state('cut')
}

const reply = (head: string, body = '') => `HTTP/1.1 200 OK\r\n${head}\r\n${body}`

t.test('replies end where their heads say', t => {
  const cases: readonly (readonly [string, string, Partial<Read>])[] = [
    [
      'a length',
      reply('Content-Length: 5\r\n', 'helloHTTP'),
      { body: 'hello', left: 'HTTP', keptFor: Infinity },
    ],
    ['a length of nothing', reply('Content-Length: 0\r\n', 'x'), { body: '', left: 'x' }],
    [
      'chunks',
      reply('Transfer-Encoding: chunked\r\n', '3\r\nabc\r\nA;x="y"\r\n0123456789\r\n0\r\n\r\nHTTP'),
      {
        body: 'abc0123456789',
        left: 'HTTP',
        keptFor: Infinity,
      },
    ],
    [
      'bug: a size of nine digits, zeros before it, was none',
      reply('Transfer-Encoding: chunked\r\n', '000000003\r\nabc\r\n00000000000000000\r\n\r\n'),
      { body: 'abc', left: '' },
    ],
    [
      'chunks and trailers',
      reply('transfer-encoding:CHUNKED\r\n', '1\r\na\r\n0\r\nX-A: b\r\nX-C:\r\n\r\n'),
      { body: 'a', left: '' },
    ],
    [
      'no content',
      'HTTP/1.1 204 No Content\r\nX: y\r\n\r\nrest',
      { body: '', left: 'rest', keptFor: Infinity },
    ],
    [
      'a word before the reply',
      `HTTP/1.1 103 Early Hints\r\nContent-Length: 9\r\n\r\nHTTP/1.1 100\r\n\r\n${reply('content-length: 1\r\n', 'a')}`,
      { body: 'a', left: '' },
    ],
    [
      'a kept connection of HTTP/1.0',
      'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\na',
      { body: 'a', keptFor: Infinity },
    ],
    ['a connection of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na', { body: 'a', keptFor: 0 }],
    [
      'a last reply',
      reply('Connection: foo, close\r\nContent-Length: 1\r\n', 'a'),
      { body: 'a', keptFor: 0 },
    ],
    [
      'bug: a last reply that also asks for the connection to be kept was followed by another request',
      reply('Connection: close\r\nConnection: keep-alive\r\nContent-Length: 1\r\n', 'a'),
      { body: 'a', keptFor: 0 },
    ],
    [
      'bug: behind no content with a length the connection was kept, for content that might come',
      'HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc',
      { body: '', left: 'abc', keptFor: 0 },
    ],
    [
      'no content in chunks',
      'HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n0',
      { body: '', left: '0', keptFor: 0 },
    ],
    [
      'no content with a length of nothing',
      'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n',
      { body: '', left: '', keptFor: Infinity },
    ],
    [
      'blanks around values',
      reply('Content-Length: \t 2 \t\r\nConnection:\tclose \r\n', 'ab'),
      { body: 'ab', keptFor: 0 },
    ],
    [
      'a connection that is kept for some time',
      reply('Keep-Alive: max=3, timeout=5\r\nContent-Length: 1\r\n', 'a'),
      { body: 'a', keptFor: 5_000 },
    ],
  ]
  for (const [name, text, expected] of cases) {
    t.match(read([text]), { end: 'whole', ...expected }, name)
    t.match(read(Array.from(text)), { end: 'whole', ...expected }, `${name}, byte by byte`)
  }
  t.end()
})

t.test('a reply without a length ends with its connection', t => {
  const got = read([reply('Content-Type: text/plain\r\n', 'as long'), ' as it', ' takes'])
  t.match(got, { end: 'cut', body: 'as long as it takes', endsWithConnection: true, keptFor: 0 })
  t.match(got.heads, [{ status: 200, length: null }])
  t.match(read([reply('Content-Length: 9\r\n', 'short')]), { end: 'cut', endsWithConnection: false })
  t.match(read([reply('Transfer-Encoding: chunked\r\n', '5\r\nabcde\r\n')]), {
    end: 'cut',
    endsWithConnection: false,
  })
  t.end()
})

t.test('what the head says is told', t => {
  const { heads } = read([
    `HTTP/1.1 429 Too Many\r\nRETRY-AFTER:  7 \r\nretry-after: 8\r\nContent-Length: 2\r\n\r\n{}`,
  ])
  t.match(heads, [{ status: 429, length: 2, retryAfter: '7' }])
  t.match(read(['HTTP/1.1 503 \r\ncontent-length: 0\r\n\r\n']).heads, [{ status: 503, retryAfter: null }])
  t.end()
})

t.test('where two readers could see two replies there is none', t => {
  const long = 'x'.repeat(17 * 1024)
  const cases: readonly (readonly [string, string])[] = [
    ['a length twice', reply('Content-Length: 5\r\nContent-Length: 5\r\n', 'hello')],
    ['two lengths in one', reply('Content-Length: 5, 5\r\n', 'hello')],
    ['a length with a sign', reply('Content-Length: +5\r\n', 'hello')],
    ['bug: a length behind a space that is none in HTTP', reply('Content-Length: \xa05\r\n', 'hello')],
    [
      'bug: chunks behind a space that is none in HTTP',
      reply('Transfer-Encoding: chunked\xa0\r\n', '0\r\n\r\n'),
    ],
    ['bug: words before the reply without an end', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000)],
    ['a length in hex', reply('Content-Length: 0x5\r\n', 'hello')],
    ['no number as length', reply('Content-Length: \r\n', 'hello')],
    ['a length beyond all numbers', reply(`Content-Length: ${'9'.repeat(16)}\r\n`, 'hello')],
    ['a length and chunks', reply('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n')],
    ['chunks and a length', reply('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', '0\r\n\r\n')],
    ['another encoding', reply('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n')],
    ['chunks twice', reply('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n')],
    ['chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a blank before the colon', reply('Content-Length : 5\r\n', 'hello')],
    ['a folded line', reply('X-A: b\r\n Content-Length: 5\r\n', 'hello')],
    ['a line without a colon', reply('Content-Length\r\n', 'hello')],
    ['a line without a name', reply(': 5\r\n', 'hello')],
    ['a bare line feed in the head', 'HTTP/1.1 200 OK\nContent-Length: 5\r\n\r\nhello'],
    ['a bare line feed in a value', reply('X-A: b\nContent-Length: 5\r\n', 'hello')],
    ['a bare carriage return', reply('X-A: b\rContent-Length: 5\r\n', 'hello')],
    ['a NUL', reply('X-A: \0\r\nContent-Length: 5\r\n', 'hello')],
    ['another version', 'HTTP/2.0 200 OK\r\nContent-Length: 5\r\n\r\nhello'],
    ['no status', 'HTTP/1.1 OK\r\nContent-Length: 5\r\n\r\nhello'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\nContent-Length: 5\r\n\r\nhello'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    ['switched protocols', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nhello'],
    ['a line break before the status', `\r\n${reply('Content-Length: 5\r\n', 'hello')}`],
    ['a head without an end', reply(`X-A: ${long}\r\n`)],
    ['a chunk without a size', reply('Transfer-Encoding: chunked\r\n', '\r\nabc')],
    ['a negative size', reply('Transfer-Encoding: chunked\r\n', '-1\r\nabc')],
    ['a size in the style of C', reply('Transfer-Encoding: chunked\r\n', '0x3\r\nabc')],
    ['a size beyond all numbers', reply('Transfer-Encoding: chunked\r\n', 'fffffffff\r\nabc')],
    ['a bare line feed behind a size', reply('Transfer-Encoding: chunked\r\n', '3\nabc\r\n')],
    ['more than a size says', reply('Transfer-Encoding: chunked\r\n', '3\r\nabcd\r\n0\r\n\r\n')],
    ['a bare line feed behind a chunk', reply('Transfer-Encoding: chunked\r\n', '3\r\nabc\n0\r\n\r\n')],
    ['an endless extension', reply('Transfer-Encoding: chunked\r\n', `3;${long}\r\nabc`)],
    ['a trailer that is none', reply('Transfer-Encoding: chunked\r\n', '0\r\nX A\r\n\r\n')],
    ['endless trailers', reply('Transfer-Encoding: chunked\r\n', `0\r\n${'X: y\r\n'.repeat(5_000)}\r\n`)],
  ]
  for (const [name, text] of cases) {
    t.equal(read([text]).end, 'fault', name)
    t.equal(read(Array.from(text)).end, 'fault', `${name}, byte by byte`)
  }
  t.end()
})

t.test('bug: ten thousand chunks of one read were as many pieces, a hundred times as large', t => {
  const chunks = Array.from({ length: 10_000 }, (_, i) => String.fromCharCode(i % 256))
  const text = chunks.map(chunk => `1\r\n${chunk}\r\n`).join('')
  const head = reply('Transfer-Encoding: chunked\r\n')
  const memory = Buffer.alloc(64 * 1024)
  const pieces: (Buffer | string)[] = []
  const parser = new ReplyParser()
  for (const part of [head, text, '0\r\n\r\n']) {
    memory.write(part, 'latin1')
    parser.read(memory, part.length, { onHead: () => undefined, onData: piece => void pieces.push(piece) })
  }
  t.strictSame(
    pieces.map(piece => piece.toString('latin1')),
    [chunks.join('')],
  )
  t.end()
})

const latin = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map(c => String.fromCharCode(c)),
  maxLength: 6_000,
})
const framed = fc.oneof(
  latin.map(body => ({ body, text: reply(`Content-Length: ${body.length}\r\n`, body) })),
  fc
    .array(
      latin.filter(chunk => chunk !== ''),
      { maxLength: 6 },
    )
    .map(chunks => ({
      body: chunks.join(''),
      text: reply(
        'Transfer-Encoding: chunked\r\n',
        `${chunks.map(chunk => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`,
      ),
    })),
)

t.test('however replies are cut into reads, one behind the other is read the same', t => {
  fc.assert(
    fc.property(
      fc.array(framed, { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat(), { maxLength: 10 }),
      (replies, cuts) => {
        const parser = new ReplyParser()
        let text = replies.map(each => each.text).join('')
        for (const [n, { body }] of replies.entries()) {
          const places = [0, ...cuts.map(cut => cut % (text.length + 1)).sort((a, b) => a - b), text.length]
          const pieces = places
            .slice(1)
            .map((place, i) => text.slice(places[i], place))
            .filter(piece => piece !== '')
          const got = read(pieces, parser)
          t.equal(got.end, 'whole', `reply ${n}`)
          if (got.body !== body) t.equal(got.body, body)
          text = got.left
        }
        t.equal(text, '')
      },
    ),
  )
  t.end()
})
