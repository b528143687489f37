import t from 'tap'
import { keccak256 } from 'viem'
import { readSendError, transactionHash } from '../../../src/families/evm/known-transaction.ts'

t.test('the nine ways to say that a transaction is known', t => {
  const known = [
    'already known',
    'known transaction: abc',
    'AlreadyKnown',
    'AlreadyKnown, Hash: 0x1',
    'Transaction with the same hash was already imported.',
    'transaction already imported',
    'already in mempool',
    'tx already in mempool',
    'ALREADY_EXISTS: already known',
    'duplicate transaction',
  ]
  for (const text of known) t.equal(readSendError(text), 'known', text)
  for (const text of ['nonce too low', 'nonce too low: next nonce 5, tx nonce 4', 'Nonce too low'])
    t.equal(readSendError(text), 'nonce_used', text)
  for (const text of [
    'replacement transaction underpriced',
    'insufficient funds for gas * price + value',
    'unknown account',
    'exceeds block gas limit',
  ])
    t.equal(readSendError(text), 'other', text)
  t.end()
})

t.test('the hash is keccak-256 of the bytes', t => {
  t.equal(transactionHash('["0x02f86b01"]'), `"${keccak256('0x02f86b01')}"`)
  for (const params of ['[]', '["0x"]', '["0xabc"]', '["zz"]', '[1]', '{}'])
    t.equal(transactionHash(params), null, params)
  t.end()
})
