import fc from 'fast-check'
import t from 'tap'
import type { NodeErrorClass } from '../../../src/snapshot/types.ts'
import { classify } from '../../../src/families/errors/classify.ts'
import { EVM_ERRORS, SOLANA_ERRORS } from '../../../src/families/errors/table.ts'
import { callOf, CASES, errorOf, rawOf } from './cases.ts'

const classOf = (message: string, params: unknown, code = -32000, method = 'web3_sha3'): NodeErrorClass =>
  classify(errorOf(code, message), callOf('evm', { method, params: rawOf(params), isRange: false }))

const hex = (text: string): string => `0x${Buffer.from(text, 'utf8').toString('hex')}`

t.test('a message that quotes the call is not read', t => {
  const quoting: [message: string, params: unknown][] = [
    ['too many requests', ['too many requests']],
    ['TOO MANY REQUESTS', ['Too many requests']],
    ['invalid argument 0: json: too many requests is not hex', [{ data: 'too many requests' }]],
    ['invalid argument "abcdef": rate limit exceeded', ['abcdef']],
    ['rate limit exceeded for ABCDEF', [[{ deep: ['abcdef'] }]]],
    ['rate limit \\"exceeded\\"', ['rate limit "exceeded"']],
    ['rate limit\\nexceeded', ['rate limit\nexceeded']],
    ['too many requests', ['too\\u0020many', ' requests']],
    ['too many requests', [hex('too many requests')]],
    ['not hex: (rate limited)', [hex(`${'\0'.repeat(31)}\x20(rate limited)${'\0'.repeat(19)}`)]],
    ['unknown field `too many requests`', [{ 'too many requests': 1 }]],
    ['too many requests AAAAAAAA…', [`too many requests ${'A'.repeat(5000)}`]],
    ['header not found', ['header\u00a0not\u00a0found']],
    ['block aaaa not found', ['block aaaa', ' not found']],
    ['rate limit caf\u00e9-table', ['caf\u00e9-table']],
  ]
  for (const [message, params] of quoting) {
    t.equal(classOf(message, params), 'answer', message)
    t.equal(classOf(message, params, 429), 'limited', `${message}: its code counts`)
    t.not(classOf(message.replace(/^\D*: /, ''), ['0x12']), 'answer', `${message}: it is read otherwise`)
  }
  t.end()
})

t.test('words of the protocol quote nothing', t => {
  t.equal(classOf('finalized block not found', ['finalized', false]), 'behind')
  t.equal(classOf('requested block is greater than the latest block', ['latest']), 'behind')
  t.equal(classOf('please specify less number of addresses', [{ address: [] }]), 'answer', 'it has no range')
  t.end()
})

t.test('a hash, number or address of the call proves no quotation', t => {
  const hash = `0x${'ab12'.repeat(16)}`
  t.equal(classOf(`block ${hash} not found`, [hash], -32000, 'debug_traceBlockByHash'), 'missing')
  t.equal(classOf(`BLOCK ${hash.toUpperCase()} NOT FOUND`, [hash]), 'missing')
  t.equal(classOf(`transaction ${hash} not found`, [hash], -32000, 'debug_traceTransaction'), 'missing')
  for (const number of ['0x10', '0x1312d0', '0x1312d00', '0x1312d0000'])
    t.equal(classOf(`No state available for block ${number}`, [{ to: hash.slice(0, 42) }, number]), 'missing')
  t.equal(classOf('rate limit exceeded for 0xabcdef', ['0xabcdef']), 'limited')
  t.equal(classOf(`block ${hash} not found`, [hash, 'block not found']), 'answer', 'the words are quoted too')
  t.equal(classOf(`execution reverted: block ${hash} not found`, [hash]), 'answer', 'a revert is an answer')
  t.end()
})

t.test('params that cannot be read in good time count as quoted; one long string does not', t => {
  const address = '0x00000000000000000000000000000000000000aa'
  t.equal(classOf('too many requests', [Array.from({ length: 100 }, () => address)]), 'limited')
  t.equal(classOf('too many requests', [Array.from({ length: 5000 }, () => address)]), 'answer')
  t.equal(classOf('too many requests', [`0x${'ab'.repeat(2 ** 20)}`]), 'limited')
  t.equal(classOf('too many requests', [hex(`too many requests${'.'.repeat(2 ** 20)}`)]), 'answer')
  t.end()
})

t.test('only the beginning of a long message is looked at', t => {
  t.equal(classOf(`${'x '.repeat(2000)}too many requests`, []), 'answer')
  t.equal(classOf(`too many requests ${'x '.repeat(5_000)}`, []), 'limited')
  t.equal(classOf(`execution reverted: ${'too many requests '.repeat(5_000)}`, []), 'answer')
  t.end()
})

t.test('params of everyday calls leave what nodes say of themselves readable', t => {
  const filter = {
    fromBlock: '0x12d687',
    toBlock: '0x12ffff',
    address: ['0x00000000000000000000000000000000000000aa'],
    topics: [null, ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'], []],
  }
  const transaction = {
    from: filter.address[0],
    to: filter.address[0],
    gas: '0x5208',
    value: '0x0',
    input: '0x70a08231',
    maxFeePerGas: '0x3b9aca00',
    maxPriorityFeePerGas: '0x1',
    accessList: [],
    blobVersionedHashes: [],
  }
  const tracing = { tracer: 'callTracer', timeout: '5s', tracerConfig: { onlyTopCall: true, withLog: true } }
  const everyday: unknown[] = [
    [filter],
    [transaction, 'latest', {}],
    ['0x12d687', true],
    [filter.topics[1]![0], tracing],
    [`0x02f8b1${'0123456789abcdef'.repeat(40)}`],
  ]
  const cases = CASES.filter(({ name }) => !name.includes('12d687'))
  for (const params of everyday) {
    const call = { params: rawOf(params) }
    const misread = cases.filter(one => classify(one.error, { ...one.call, ...call }) !== one.class)
    t.strictSame(
      misread.map(({ name }) => name),
      [],
      call.params.slice(0, 60),
    )
  }
  t.end()
})

/** How nodes repeat what they were sent. */
const ECHOES: readonly ((text: string) => string)[] = [
  text => text,
  text => `invalid argument 0: json: cannot unmarshal ${text} into Go value of type common.Hash`,
  text => `unknown field \`${text}\`, expected one of \`to\`, \`from\``,
  text => `Invalid params: ${JSON.stringify(text)}`,
  text => `${text} is not a valid hash`,
  text => `cannot parse '${text}'`,
  text => `bad value: ${text.toUpperCase()}`,
  text => `bad request ${JSON.stringify(JSON.stringify({ text }))}`,
  text => `bad value ${encodeURIComponent(text)}`,
  text => `bad value ${text.replace(/["'<>&]/g, found => `&#${found.charCodeAt(0)};`)}`,
  text => `bad value ${text.slice(0, 40)}…`,
  text => text.replace(/(.{8})/g, '$1\n'),
]

/** Where a client can put a text. */
const PLACES: readonly ((text: string) => unknown)[] = [
  text => [text],
  text => [{ to: text }, 'latest'],
  text => [[[{ deep: [text] }]]],
  text => [{ [text]: 1 }],
  text => [hex(text)],
  text => [`${text}${' '.repeat(3000)}`],
  text => [text.slice(0, text.length / 2), text.slice(text.length / 2)],
]

const TEXTS = [...EVM_ERRORS, ...SOLANA_ERRORS].flatMap(({ text }) =>
  text === null ? [] : [text.replaceAll('*', '1'), text.replaceAll('*', ' some words ')],
)

t.test('nothing that a client sends and a node echoes changes the class', t => {
  const PLACEHOLDER = 'wxyzwxyz'
  const chosen = fc.oneof(
    fc.constantFrom(...TEXTS),
    fc
      .tuple(fc.string({ maxLength: 8 }), fc.constantFrom(...TEXTS), fc.string({ maxLength: 8 }))
      .map(parts => parts.join('')),
    fc.constantFrom(...TEXTS).map(text => text.toUpperCase()),
    fc.constantFrom(...TEXTS).map(text => text.replaceAll(' ', '\t')),
    fc.string({ unit: 'binary', maxLength: 40 }),
  )
  const codes = fc.constantFrom(-32000, -32005, -32001, -32002, -32600, -32602, -32603, 429, 3)
  const call = fc.record({
    family: fc.constantFrom('evm' as const, 'solana' as const),
    isRange: fc.boolean(),
    place: fc.constantFrom(...PLACES),
    echo: fc.constantFrom(...ECHOES),
  })
  fc.assert(
    fc.property(chosen, codes, call, (text, code, { family, isRange, place, echo }) => {
      // A revert is an answer in any case; what counts is that nothing else becomes of it.
      fc.pre(!/revert|vm exception|vm execution|evm error/i.test(text) && !hasLoneSurrogate(text))
      const judge = (word: string): NodeErrorClass =>
        classify(errorOf(code, echo(word)), callOf(family, { params: rawOf(place(word)), isRange }))
      return judge(text) === judge(PLACEHOLDER)
    }),
    { numRuns: 5_000 },
  )
  t.pass('held')
  t.end()
})

function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text)
}
