import t from 'tap'
import { encodeRlp, keccak256 } from 'ethers'
import { readSendError, transactionHash } from '../../../src/families/evm/known-transaction.ts'
import { elementsIn } from '../../../src/jsonrpc/elements.ts'

const hashIn = (params: string) => transactionHash(elementsIn(params).first)

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
  t.equal(hashIn('["0x02f86b01"]'), `"${keccak256('0x02f86b01')}"`)
  for (const params of ['[]', '["0x"]', '["0xabc"]', '["zz"]', '[1]', '{}'])
    t.equal(hashIn(params), null, params)
  t.end()
})

t.test('only types whose hash is that of their bytes have one', t => {
  for (const type of ['f8', 'c1', '01', '02', '03', '04'])
    t.equal(hashIn(`["0x${type}6b01"]`), `"${keccak256(`0x${type}6b01`)}"`, type)
  // ZKsync, Celo, OP Stack, and what is no type (EIP-2718 ends at 0x7f).
  for (const type of ['00', '05', '71', '7b', '7e', '80', 'bf'])
    t.equal(hashIn(`["0x${type}6b01"]`), null, type)
  t.end()
})

t.test('bug: the hash of a transaction with blobs was that of the blobs as well', t => {
  const fields = Array.from({ length: 14 }, (_, n) => (n === 8 ? [] : `0x${'1'.repeat(2 * (n + 1))}`))
  const alone = `0x03${encodeRlp(fields).slice(2)}`
  const hash = `"${keccak256(alone)}"`
  const blobs = [`0x${'5a'.repeat(131_072)}`]
  const proofs = [`0x${'77'.repeat(48)}`]
  t.equal(hashIn(`["${alone}"]`), hash, 'as it stands in a block')
  for (const sidecar of [
    [blobs, proofs, proofs],
    ['0x01', blobs, proofs, proofs],
  ])
    t.equal(hashIn(`["0x03${encodeRlp([fields, ...sidecar]).slice(2)}"]`), hash)
  for (const odd of ['0x03', '0x03c0', '0x03ff', '0x03fb', '0x03c1ff', `0x03ff${'ff'.repeat(8)}`])
    t.equal(hashIn(`["${odd}"]`), `"${keccak256(odd)}"`, odd)
  t.end()
})

t.test('what no chain accepts is not hashed, and blobs do not count', t => {
  const most = `0x02${'ab'.repeat(128 * 1024 - 1)}`
  t.equal(hashIn(`["${most}"]`), `"${keccak256(most)}"`)
  t.equal(hashIn(`["${most}ab"]`), null)
  t.equal(hashIn(`["0x02${'ab'.repeat(2_500_000)}"]`), null)
  const alone = [...Array.from({ length: 13 }, () => '0x01'), `0x${'22'.repeat(100_000)}`]
  const sidecar = ['0x01', Array.from({ length: 9 }, () => `0x${'5a'.repeat(131_072)}`), [], []]
  const sent = `0x03${encodeRlp([alone, ...sidecar]).slice(2)}`
  t.equal(hashIn(`["${sent}"]`), `"${keccak256(`0x03${encodeRlp(alone).slice(2)}`)}"`, 'nine blobs')
  t.equal(hashIn(`["0x03${'fb'.repeat(2_000_000)}"]`), null, 'blobs of no transaction')
  t.equal(hashIn(`["0x03${encodeRlp([[`0x${'22'.repeat(200_000)}`], ...sidecar]).slice(2)}"]`), null)
  t.end()
})
