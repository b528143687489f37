import fc from 'fast-check'
import t from 'tap'
import type { Reply } from '../../src/jsonrpc/message.ts'
import { readQuantity } from '../../src/jsonrpc/quantity.ts'
import { readFrame } from '../../src/subscriptions/socket/frame.ts'
import { GapBroken, GapTooWide } from '../../src/families/gap.ts'
import { evm } from '../../src/families/evm/evm.ts'
import { solana } from '../../src/families/solana/solana.ts'
import { rawMember } from '../support/raw-json.ts'

const deep = (open: string, close: string): string => open.repeat(9_000) + close.repeat(9_000)

/** What a node may say where a number, a hash, or anything else is expected. */
const odd = fc.oneof(
  fc.constantFrom(
    '{"toString":1}',
    '{"valueOf":{}}',
    '{"__proto__":{"toString":1}}',
    '{"a":1,"a":2}',
    '[[["0x1"]]]',
    'null',
    'true',
    '-1',
    '-0',
    '1e400',
    '0.5',
    '9007199254740991',
    '9007199254740993',
    '[]',
    '{}',
    '""',
    '"0x"',
    '"0x0"',
    '"0x1fffffffffffff"',
    '"0x20000000000000"',
    '"-0x1"',
    '"latest"',
    '"\\ud800"',
    deep('[', ']'),
    deep('{"a":', '}').replace(/}$/, '}'),
    `"${'f'.repeat(10_000)}"`,
    '"}"',
    '"]"',
    '"{"',
  ),
  fc.integer({ min: 90, max: 130 }).map(number => `"0x${number.toString(16)}"`),
  fc.integer().map(String),
  fc.jsonValue().map(value => Buffer.from(JSON.stringify(value)).toString('latin1')),
)
/** Objects whose members are those of blocks, logs and statuses, with odd values, some of them twice. */
const names = [
  'number',
  'hash',
  'blockNumber',
  'blockHash',
  'logIndex',
  'removed',
  'value',
  'context',
  '__proto__',
]
const object = fc
  .array(fc.tuple(fc.constantFrom(...names, 'confirmationStatus', 'err', 'toString'), odd), { maxLength: 8 })
  .map(members => `{${members.map(([name, value]) => `"${name}":${value}`).join()}}`)
const message = fc.oneof(
  odd,
  object,
  fc.array(object, { maxLength: 4 }).map(all => `[${all.join()}]`),
)

const calls = [
  ['eth_subscribe', '["newHeads"]'],
  ['eth_subscribe', '["logs",{"address":"0x1","toString":1}]'],
  ['eth_subscribe', '["logs",[]]'],
  ['eth_subscribe', '["newPendingTransactions"]'],
  ['eth_subscribe', '[{"toString":1}]'],
  ['signatureSubscribe', '["x",{"commitment":{"toString":1}}]'],
  ['signatureSubscribe', '{"a":1}'],
  ['slotSubscribe', '[]'],
] as const

t.test('no message and no answer of a node makes a filler throw, loop, or ask without end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...calls),
      fc.array(message, { maxLength: 12 }),
      fc.infiniteStream(message),
      fc.constantFrom(null, 0, 100, 2 ** 53 - 1),
      async ([method, params], messages, answers, best) => {
        let asked = 0
        const ask = (): Promise<Reply | null> => {
          asked++
          const answer = asked % 17 === 16 ? null : answers.next().value
          return Promise.resolve(answer === null ? null : { kind: 'result', result: answer })
        }
        const { subscriptions } = method.startsWith('eth_') ? evm : solana
        const filler = subscriptions.filler(method, params, {
          best: () => best,
          isPlausible: height => best === null || height < best + 64,
        })
        await filler.started(ask)
        for (const raw of messages) {
          filler.take(raw)
          filler.isLast(raw)
        }
        try {
          let given = 0
          for await (const result of filler.fill(ask, 100)) {
            given += result.length > 0 ? 1 : 0
            if (given > 10_000) return false
          }
        } catch (error) {
          if (!(error instanceof GapBroken || error instanceof GapTooWide)) throw error
        }
        return asked < 500
      },
    ),
    { numRuns: 200 },
  )
})

t.test('no frame makes the reader throw', t => {
  const member = fc.constantFrom(
    'id',
    'method',
    'params',
    'result',
    'error',
    'subscription',
    'ID',
    '__proto__',
  )
  const frame = fc
    .array(fc.tuple(member, fc.oneof(odd, object)), { maxLength: 6 })
    .map(members => `{${members.map(([name, value]) => `"${name}":${value}`).join()}}`)
  fc.assert(
    fc.property(fc.oneof(frame, message, fc.string(), fc.string({ unit: 'binary' })), raw => {
      const found = readFrame(Buffer.from(raw).toString('latin1'))
      if (found?.kind === 'reply') return typeof found.id === 'number'
      return found === null || typeof found.subscription === 'string'
    }),
    { numRuns: 1_000 },
  )
  t.equal(readFrame('{"id":1,"id":2,"result":1}'), null)
  t.equal(readFrame(`{${'"a":1,'.repeat(2_000)}"id":1,"result":1}`), null, 'too many members')
  const valid = '{"method":"eth_subscription","params":{"subscription":"0x1","result":{"a":1}}}'
  t.match(readFrame(valid), {
    subscription: '"0x1"',
    result: rawMember(rawMember(valid, 'params')!, 'result'),
  })
  t.end()
})

t.test('numbers are hex or decimal strings, or integers', t => {
  const good = { '"0x10"': 16, '"0XaB"': 171, '"12"': 12, '0': 0, '7': 7, '"0x1fffffffffffff"': 2 ** 53 - 1 }
  for (const [raw, number] of Object.entries(good)) t.equal(readQuantity(raw), number, raw)
  for (const raw of [
    null,
    undefined,
    '',
    '"0x"',
    '""',
    '" 1"',
    '-1',
    '1.0',
    '1e3',
    '"0x20000000000000"',
    '[1]',
  ])
    t.equal(readQuantity(raw), null, String(raw))
  t.end()
})
