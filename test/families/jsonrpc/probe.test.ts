import t from 'tap'
import { identityFault } from '../../../src/families/jsonrpc/probe.ts'

t.test('what names the chain', t => {
  const fault = (equals: string, result: string, at: readonly string[] = []) =>
    identityFault({ method: 'who', params: [], at, equals }, result)
  for (const [equals, result] of [
    ['main', '"main"'],
    ['7', '7'],
    ['7', '"7"'],
    ['true', 'true'],
    ['0xAb', '"0xaB"'],
    ['ü', '"\\u00fc"'],
  ] as const)
    t.equal(fault(equals, result), null, `${equals} ${result}`)
  for (const [equals, result] of [
    ['main', '"Main"'],
    ['main', '"mainnet"'],
    ['main', 'null'],
    ['main', '{"chain":"main"}'],
    ['0xab', '"ab"'],
    ['0xab', '171'],
  ] as const)
    t.equal(fault(equals, result), `it serves another chain: who does not answer ${equals}`, result)
  t.equal(fault('main', '{"chain":"main"}', ['chain']), null)
  t.ok(fault('main', '{}', ['chain']), 'where nothing is there, it is not the one')
  t.end()
})
