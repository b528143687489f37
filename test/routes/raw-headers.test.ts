import t from 'tap'
import { headerOf } from '../../src/routes/transport/exchange.ts'

const headers = ['Content-Type', 'text/plain', 'RETRY-AFTER', '7', 'retry-after', '8'].map(text =>
  Buffer.from(text),
)

t.test('a header is found in any case, the first of its name', t => {
  t.equal(headerOf(headers, 'retry-after'), '7')
  t.equal(headerOf(headers, 'content-type'), 'text/plain')
  t.equal(headerOf(headers, 'content-tyqe'), null)
  t.equal(headerOf([], 'retry-after'), null)
  t.end()
})
