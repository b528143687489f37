/** Errors that are the outcome of an execution: the answer to the call, whatever their code and text say besides. */
import { pickMembers } from '../../jsonrpc/elements.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { firstAt } from '../../jsonrpc/value-at.ts'

/** A node's error: the raw object, and what was read from it. */
export interface NodeError {
  readonly code: number
  readonly message: string
  readonly error: Raw
}

/** `execution reverted` of geth and those that follow it, and `VM execution error` of OpenEthereum. */
const EXECUTION_CODES: ReadonlySet<number> = new Set([3, -32015])
/** What messages about an execution begin with, in lower case. */
const BEGINNINGS = [
  'execution reverted',
  'vm execution error',
  'vm exception while processing transaction',
  'evm error',
]
/** Where Hardhat (`data`) and Ganache (`result`, `return`) put revert data when `data` is an object. */
const DATA_NAMES = ['data', 'result', 'return'] as const

/** Whether the error says how an EVM execution ended. `message` is in lower case. */
export function isEvmOutcome({ code, error }: NodeError, message: string): boolean {
  if (EXECUTION_CODES.has(code)) return true
  if (BEGINNINGS.some(beginning => message.startsWith(beginning))) return true
  return isRevert(message) || hasRevertData(error)
}

/** Whether the node itself says `revert`: what stands behind a quotation mark may be anybody's words. */
function isRevert(message: string): boolean {
  const at = message.indexOf('revert')
  return at >= 0 && !/["'`\u2018\u201c]/.test(message.slice(0, at))
}

function hasRevertData(error: Raw): boolean {
  const data = firstAt(error, ['data'])
  if (data === null) return false
  if (data.charCodeAt(0) !== 123) return isHex(data)
  return pickMembers(data, DATA_NAMES).some(value => typeof value === 'string' && isHex(value))
}

/** A JSON string of hex digits; OpenEthereum and Alchemy write `Reverted` in front of them. */
function isHex(value: Raw): boolean {
  return /^"(?:reverted )?0x[0-9a-f]*"$/i.test(value)
}

/** Whether the error says how a Solana transaction's preflight or simulation ended. */
export function isSolanaOutcome({ error }: NodeError): boolean {
  const err = firstAt(error, ['data', 'err'])
  return err !== null && err !== 'null'
}
