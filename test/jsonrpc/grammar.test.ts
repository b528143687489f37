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
  for (const one of grammarCases) {
    t.equal(scanned(one.bytes), one.is, `${one.name}, as a body`)
    t.equal(parses(one.bytes) ? 'yes' : 'no', one.is, `${one.name}, by JSON.parse`)
    // What stands between brackets may complete a text that is none alone.
    t.equal(scanned(inCall(one)), parses(inCall(one)) ? 'yes' : 'no', `${one.name}, as a parameter`)
  }
  t.end()
})

t.test('every byte before, behind and within a text', t => {
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
      t.equal(scanned(body), parses(body) ? 'yes' : 'no', `${left} 0x${byte.toString(16)} ${right}`)
    }
  }
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
  for (const one of grammarCases) {
    const alone = await told(one.bytes)
    if (one.is === 'no') t.same(alone, { status: 400, reason: 'parse_error', id: null }, one.name)
    else t.ok(alone.reason !== 'parse_error' && alone.status === 400, `${one.name}: JSON, but no call`)
    const body = inCall(one)
    const within = await told(body)
    const params = body.subarray(head.length - 1, -1).toString()
    if (!parses(body))
      t.same(within, { status: 400, reason: 'parse_error', id: null }, `${one.name}, in a call`)
    else if ((JSON.parse(params) as unknown[]).length !== 1)
      t.same(
        within,
        { status: 200, reason: 'invalid_params', id: 1 },
        `${one.name}, another number of params`,
      )
    else {
      t.same(within, { status: 200, reason: undefined, id: 1 }, `${one.name}, in a call`)
      expected.push(params)
    }
  }
  t.ok(expected.length > 130, `${expected.length} reached the node`)
  t.strictSame(
    node.calls.map(({ params }) => params),
    expected,
    'and as they were written',
  )
  t.equal((await access.usage()).requests, expected.length, 'nothing else was charged')
})
