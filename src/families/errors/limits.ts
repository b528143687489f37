/** Rows for rate limits of nodes and providers of every family. */
import type { ErrorRow } from '../../snapshot/types.ts'
import { codeRow, textRows } from './row.ts'

/** Rates, in nearly every wording. */
export const RATES: readonly ErrorRow[] = textRows('limited', [
  'rate limit',
  '* rate limit',
  '*rate-limit',
  'ratelimit',
  '*rate limited',
  'too many requests',
  '*too many requests',
  '429 too many',
  'too many concurrent requests',
  'request throttled',
  'requests limited to',
  'request rate exceeded',
  '*request rate exceeded',
  'request exceeds defined limit',
  '*exceeded * requests per second',
  '*requests per second limit',
  'slow down',
  '*error code: 1015',
])

/** QuickNode, Alchemy, Infura, Chainstack, Helius, PublicNode. */
export const VENDOR_LIMITS: readonly ErrorRow[] = textRows('limited', [
  '*request limit reached',
  '*/second * limit reached',
  '*compute units per second capacity',
  'your app has exceeded its throughput limit',
  'your app has exceeded its concurrent requests capacity',
  'daily request count exceeded',
  '*capacity exceeded',
  "you've exceeded the rps limit",
  'max usage reached',
  'limit exceeded',
  'concurrent request limit',
])

/** HTTP 429 told in the body; Helius. */
export const LIMIT_CODES: readonly ErrorRow[] = [codeRow('limited', [429, -32429])]

/** EIP-1474: limit exceeded. */
export const LIMIT_EVM_CODE: readonly ErrorRow[] = [codeRow('limited', [-32005])]

/** Limits on subscriptions: jsonrpsee (Reth, Frontier); Agave. */
export const SUBSCRIPTION_LIMITS: readonly ErrorRow[] = textRows('limited', [
  'too many subscriptions',
  '*subscription limit reached',
])
