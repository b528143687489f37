/** Rows for errors of EVM nodes that are answers wherever they come from, ahead of codes that would say otherwise. */
import type { ErrorRow } from '../../snapshot/types.ts'
import { textRows } from '../errors/row.ts'

/** What is wrong with the call or transaction itself; Frontier chains (Moonbeam) and others report it under -32603. */
export const EVM_ANSWERS: readonly ErrorRow[] = textRows('answer', [
  'already known',
  'known transaction',
  'nonce too low',
  'nonce too high',
  'insufficient funds',
  'intrinsic gas too low',
  'replacement transaction underpriced',
  'transaction underpriced',
  'submit transaction to pool failed',
  'max fee per gas less than block base fee',
  'max priority fee per gas higher than max fee per gas',
  'gas required exceeds allowance',
  'out of gas',
  'exceeds block gas limit',
  'tx fee * exceeds the configured cap',
  'invalid opcode',
  'invalid jump destination',
  'stack underflow',
  'max initcode size exceeded',
  'max code size exceeded',
  'contract creation code storage out of gas',
  'transaction type not supported',
  'invalid sender',
  'rlp:',
  'only replay-protected * allowed over rpc',
  'filter not found',
  'execution aborted',
  'execution timeout',
])
