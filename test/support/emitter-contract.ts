import { concatHex, encodeAbiParameters, numberToHex, parseAbi, size, toEventSelector, type Hex } from 'viem'

/** The ABI of a contract that logs what it is called with, stores 42 in slot 0 and returns 42. */
export const emitterAbi = parseAbi(['event Seen(uint256 value)'])

const topic = toEventSelector('Seen(uint256)')
/** calldatacopy(0, 0, size); log1(0, size, topic); sstore(0, 42); mstore(0, 42); return(0, 32) */
const runtime = concatHex(['0x365f5f377f', topic, '0x365fa1602a5f55602a5f5260205ff3'])

/** Its creation code. */
export const emitterCode: Hex = concatHex([
  '0x60',
  numberToHex(size(runtime), { size: 1 }),
  '0x8060095f395ff3',
  runtime,
])

/** The input that makes it log a value. */
export function emit(value: bigint): Hex {
  return encodeAbiParameters([{ type: 'uint256' }], [value])
}
