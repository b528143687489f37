import t from 'tap'
import { suggester } from '../../src/config/words/suggest.ts'

const suggest = suggester(['trace', 'debug', 'txpool', 'eth_getBlockByNumber', 'ws'])

t.test('the nearest word', t => {
  t.equal(suggest('tracee'), 'did you mean "trace"?')
  t.equal(suggest('tacre'), 'did you mean "trace"?')
  t.equal(suggest('sw'), 'did you mean "ws"?')
  t.equal(suggest('TRACE'), 'did you mean "trace"?')
  t.equal(suggest('eth_getblockbynumber'), 'did you mean "eth_getBlockByNumber"?')
  t.equal(suggest('txpol'), 'did you mean "txpool"?')
  t.end()
})

t.test('nothing when nothing is near', t => {
  for (const word of ['', 'x', 'archive', 'erigon', 'eth_getLogs']) t.equal(suggest(word), undefined, word)
  t.end()
})

t.test('a flood of unknown words is not all compared', t => {
  const flooded = suggester(['trace'])
  t.equal(flooded('tracee'), 'did you mean "trace"?')
  for (let n = 0; n < 500; n++) flooded(`word${n}`)
  t.equal(flooded('traace'), undefined)
  t.equal(flooded('tracee'), 'did you mean "trace"?')
  t.end()
})
