import t from 'tap'
import { scanMessage } from '../../src/jsonrpc/message.ts'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { Agent } from 'node:http'
import { grammarCases, type GrammarCase } from './grammar-cases.ts'

const head = '{"jsonrpc":"2.0","id":1,"method":"web3_sha3","params":['
/** The text where a call has its parameter. */
const inCall = ({ bytes }: GrammarCase) => Buffer.concat([Buffer.from(head), bytes, Buffer.from(']}')])
const isUtf8 = (bytes: Buffer) => Buffer.from(bytes.toString()).equals(bytes)
const parses = (bytes: Buffer) => {
  try {
    JSON.parse(bytes.toString())
    return isUtf8(bytes)
  } catch {
    return false
  }
}

/** What a scan says, in a word: a reason, or that it is JSON. */
function scanned(body: Buffer): string {
  const message = scanMessage(body, 64)
  if (message.kind === 'refused' && message.refusal.reason === 'parse_error') return 'no'
  return 'yes'
}

t.test(`the scanner tells JSON from what is none: ${grammarCases.length} texts`, t => {
  t.ok(grammarCases.length > 700, 'there are many')
  t.equal(
    new Set(grammarCases.map(({ name }) => name)).size,
    grammarCases.length,
    'each has a name of its own',
  )
  const misjudged = (is: (one: GrammarCase) => boolean) => grammarCases.filter(is).map(({ name }) => name)
  t.strictSame(
    {
      body: misjudged(({ bytes, is }) => scanned(bytes) !== is),
      parse: misjudged(({ bytes, is }) => (parses(bytes) ? 'yes' : 'no') !== is),
      // What stands between brackets may complete a text that is none alone.
      parameter: misjudged(one => scanned(inCall(one)) !== (parses(inCall(one)) ? 'yes' : 'no')),
    },
    { body: [], parse: [], parameter: [] },
    'as a body, by JSON.parse, and as a parameter',
  )
  t.end()
})

t.test('every byte before, behind and within a text', t => {
  const misjudged: string[] = []
  for (let byte = 0; byte < 256; byte += 1) {
    const piece = Buffer.from([byte])
    for (const [left, right] of [
      ['', '[1]'],
      ['[1]', ''],
      ['[', '1]'],
      ['["', '"]'],
      ['["\\', '"]'],
      ['{"a"', ':1}'],
      ['{"a":', '1}'],
      ['[1', ']'],
    ] as const) {
      const body = Buffer.concat([Buffer.from(left), piece, Buffer.from(right)])
      if (scanned(body) !== (parses(body) ? 'yes' : 'no'))
        misjudged.push(`${left} 0x${byte.toString(16)} ${right}`)
    }
  }
  t.strictSame(misjudged, [])
  t.end()
})

t.test('the same over one connection to the real process', async t => {
  const node = await startNode(t, { chainId: 1001 })
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    methods: fewMethods,
  })
  const access = await createAccess(gateway, 'paid', 'alpha')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => {
    agent.destroy()
  })
  const told = async (body: Buffer) => {
    const { status, text } = await access.post(body, { agent })
    const reply = text === '' ? null : JSON.parse(text)
    return { status, reason: reply?.error?.data?.reason as string | undefined, id: reply?.id as unknown }
  }
  const expected: string[] = []
  const noJson = { status: 400, reason: 'parse_error', id: null }
  for (const one of grammarCases) {
    const alone = await told(one.bytes)
    const isNoCall = alone.status === 400 && alone.reason !== 'parse_error'
    const body = inCall(one)
    const within = await told(body)
    const params = body.subarray(head.length - 1, -1).toString()
    const count = parses(body) ? (JSON.parse(params) as unknown[]).length : null
    if (count === 1) expected.push(params)
    const answered = { status: 200, reason: count === 1 ? undefined : 'invalid_params', id: 1 }
    t.strictSame(
      [one.is === 'yes' && isNoCall ? 'JSON, but no call' : alone, within],
      [one.is === 'yes' ? 'JSON, but no call' : noJson, count === null ? noJson : answered],
      `${one.name}, alone and in a call`,
    )
  }
  t.ok(expected.length > 130, `${expected.length} reached the node`)
  t.strictSame(
    node.calls.map(({ params }) => params),
    expected,
    'and as they were written',
  )
  t.equal((await access.usage()).requests, expected.length, 'nothing else was charged')
})
