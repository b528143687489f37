import * as kit from '@solana/kit'
import t from 'tap'
import * as transactions from '../../../src/families/solana/transaction.ts'
import * as known from '../../../src/families/solana/known-transaction.ts'
import { elementsIn } from '../../../src/jsonrpc/elements.ts'

const { saysProcessed } = known
const transactionOf = (params: string) => transactions.transactionOf(elementsIn(params).first)
const blockhashOfMessage = (params: string) => transactions.blockhashOfMessage(elementsIn(params).first)
const transactionSignature = (params: string) => known.transactionSignature(elementsIn(params).first)

const blockhash = kit.blockhash('EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N')
const lifetime = { blockhash, lastValidBlockHeight: 100n }
const signer = await kit.generateKeyPairSigner()
const payer = await kit.generateKeyPairSigner()

/** A transaction of two signers, as a wallet sends it. */
async function transaction(version: 'legacy' | 0 | 1): Promise<kit.Transaction> {
  const instruction = {
    programAddress: kit.address('11111111111111111111111111111111'),
    accounts: [{ address: signer.address, role: kit.AccountRole.WRITABLE_SIGNER, signer } as const],
    data: new Uint8Array([1, 2, 3]),
  }
  const message = kit.pipe(
    kit.createTransactionMessage({ version } as { version: 0 }),
    one => kit.setTransactionMessageFeePayerSigner(payer, one),
    one => kit.setTransactionMessageLifetimeUsingBlockhash(lifetime, one),
    one => kit.appendTransactionMessageInstruction(instruction, one),
  )
  return kit.signTransactionMessageWithSigners(message)
}

for (const version of ['legacy', 0, 1] as const) {
  t.test(`a transaction of version ${version}, in both encodings`, async t => {
    const signed = await transaction(version)
    const bytes = kit.getTransactionEncoder().encode(signed)
    const expected = { signature: kit.getSignatureFromTransaction(signed), blockhash }
    const base58 = kit.getBase58Decoder().decode(bytes)
    const base64 = kit.getBase64Decoder().decode(bytes)
    t.strictSame(transactionOf(`["${base58}"]`), expected)
    t.strictSame(transactionOf(`["${base58}",{"encoding":"base58","skipPreflight":true}]`), expected)
    t.strictSame(transactionOf(`["${base64}",{"skipPreflight":true,"encoding":"base64"}]`), expected)
    t.equal(transactionSignature(`["${base58}"]`), `"${expected.signature}"`)
    const message = kit.getBase64Decoder().decode(signed.messageBytes)
    t.equal(blockhashOfMessage(`["${message}",{"commitment":"processed"}]`), blockhash)
    const cuts = (of: kit.ReadonlyUint8Array): string[] =>
      Array.from(of.keys(), length => kit.getBase64Decoder().decode(of.slice(0, length)))
    const read = cuts(bytes).map(cut => transactionOf(`["${cut}",{"encoding":"base64"}]`)?.blockhash)
    const inMessage = cuts(signed.messageBytes).map(cut => blockhashOfMessage(`["${cut}"]`) ?? undefined)
    const either = [undefined, blockhash]
    t.strictSame([new Set(read), new Set(inMessage)], [new Set(either), new Set(either)], 'cut anywhere')
  })
}

t.test('what is no transaction says nothing', t => {
  const long = `["${'1'.repeat(1_684)}"]`
  const notBase58 = ['["0"]', '["l"]', '["1 "]', '["é"]', long]
  const nothing = ['[]', '{}', '[1]', '[""]', '["x",{"encoding":"jsonParsed"}]', '[null,null]', ...notBase58]
  for (const params of nothing) {
    t.equal(transactionOf(params), null, params)
    t.equal(transactionSignature(params), null, params)
  }
  t.end()
})

t.test('base58 of more bytes than a packet holds is not read', t => {
  /** A transaction of one signature and account, with so many bytes in all. */
  const sent = (length: number): string => {
    const bytes = Buffer.alloc(length, 7)
    bytes.set([1], 0)
    bytes.set([1, 0, 0, 1], 65)
    return kit.getBase58Decoder().decode(bytes)
  }
  t.match(transactionOf(`["${sent(1_232)}"]`)?.blockhash, /^[1-9A-Za-z]{32,44}$/)
  t.equal(transactionOf(`["${sent(1_300)}"]`), null)
  t.end()
})

t.test('a node that has a transaction says so in its text, or in data', t => {
  const said = (message: string, data?: unknown) =>
    saysProcessed({ message, error: JSON.stringify({ code: -32002, message, data }) })
  t.ok(said('Transaction simulation failed: This transaction has already been processed'))
  t.ok(said('transaction already processed'))
  t.ok(said('Transaction simulation failed', { err: 'AlreadyProcessed', logs: [] }))
  t.notOk(said('Transaction simulation failed: Blockhash not found', { err: 'BlockhashNotFound', logs: [] }))
  t.notOk(said('Transaction simulation failed', { err: null, logs: ['AlreadyProcessed'] }))
  t.notOk(said('Node is unhealthy', null))
  t.end()
})
