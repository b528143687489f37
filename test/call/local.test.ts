import t from 'tap'
import { localResult } from '../../src/call/local.ts'
import type { Network } from '../../src/snapshot/types.ts'

t.test('what the gateway answers itself is in the words of the family', t => {
  const evm = { family: 'evm', chainId: 255 } as Network
  const solana = { family: 'solana', chainId: 'solana "x"' } as Network
  const kinds = ['health', 'chainId', 'networkId', 'emptyList', 'false', 'true', 'zero'] as const
  t.strictSame(
    kinds.map(kind => localResult(kind, evm)),
    ['true', '"0xff"', '"255"', '[]', 'false', 'true', '"0x0"'],
  )
  t.strictSame(
    kinds.slice(0, 3).map(kind => localResult(kind, solana)),
    ['"ok"', '"solana \\"x\\""', '"solana \\"x\\""'],
  )
  t.end()
})
