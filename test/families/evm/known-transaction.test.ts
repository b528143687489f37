import t from 'tap'
import { encodeRlp, keccak256 } from 'ethers'
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

t.test('bug: the hash of a transaction with blobs was that of the blobs as well', t => {
  const fields = Array.from({ length: 14 }, (_, n) => (n === 8 ? [] : `0x${'1'.repeat(2 * (n + 1))}`))
  const alone = `0x03${encodeRlp(fields).slice(2)}`
  const hash = `"${keccak256(alone)}"`
  const blobs = [`0x${'5a'.repeat(131_072)}`]
  const proofs = [`0x${'77'.repeat(48)}`]
  t.equal(transactionHash(`["${alone}"]`), hash, 'as it stands in a block')
  for (const sidecar of [
    [blobs, proofs, proofs],
    ['0x01', blobs, proofs, proofs],
  ])
    t.equal(transactionHash(`["0x03${encodeRlp([fields, ...sidecar]).slice(2)}"]`), hash)
  for (const odd of ['0x03', '0x03c0', '0x03ff', '0x03fb', '0x03c1ff', `0x03ff${'ff'.repeat(8)}`])
    t.equal(transactionHash(`["${odd}"]`), `"${keccak256(odd)}"`, odd)
  t.end()
})
