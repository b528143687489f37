/** Rows for ranges of blocks that are too wide, or find too much, for a node or a plan. */
import type { ErrorRow } from '../../snapshot/types.ts'
import { codeRow, textRows } from '../errors/row.ts'

/** Nodes: geth, op-geth, coreth, Arbitrum Nitro, Besu, Nethermind, reth, ZKsync, Harmony, Moonbeam. */
export const NODE_RANGES: readonly ErrorRow[] = textRows('too_wide', [
  'exceed maximum block range',
  'exceed max addresses',
  'exceed max topics',
  'block range greater than',
  'block range exceeds',
  'block range is too wide',
  'requested too many blocks from',
  'logs matched by query exceeds limit of',
  'requested range exceeds maximum rpc range limit',
  'query exceeds max block range',
  'query exceeds max results',
  'query returned more than',
  'query must be smaller than size',
  'eth_getlogs request was canceled due to enabled timeout',
  'response too large',
  'response is too big',
  'filter range too large',
  'too many logs',
])

/**
 * Providers: Infura, Alchemy, QuickNode, Ankr, Chainstack, Cloudflare, Coinbase, dRPC, 1RPC, Blast, BlockPI, Thirdweb,
 * PublicNode, Pocket, Base, Merkle.
 */
export const PROVIDER_RANGES: readonly ErrorRow[] = textRows('too_wide', [
  'query timeout exceeded',
  'range * exceeds limit of',
  'log response size exceeded',
  'under the free tier plan, you can make eth_getlogs requests',
  'you can make eth_getlogs requests with up to',
  'response size is larger than',
  'response size exceeded',
  'response size should not greater than',
  'eth_getlogs is limited to',
  'eth_getlogs and eth_newfilter are limited to',
  'eth_getlogs range is too large',
  'eth_getlogs block range too large',
  'block range too large',
  'block range is too large',
  'block range is limited to',
  'block range limit exceeded',
  '*exceeds the range allowed for your plan',
  "invalid eth_getlogs request. 'fromblock'-'toblock' range too large",
  'max range',
  'please limit the query to at most',
  'maximum allowed number of requested blocks is',
  'maximum [from, to] blocks distance',
  'ranges over * blocks are not supported',
  'request timeout on the free tier',
  '*specify less number of address',
  'please specify an address in your request',
  'the requested block range exceeds',
  'backend response too large',
  'requested block range is too large',
])

/** What otherwise is a limit or a fault is, of a range, about its width. */
export const RANGE_TIMEOUTS: readonly ErrorRow[] = textRows('too_wide', [
  'limit exceeded',
  'request timed out',
  'context deadline exceeded',
])

/** EIP-1474: limit exceeded; geth: response too large. */
export const RANGE_CODE: readonly ErrorRow[] = [codeRow('too_wide', [-32005])]
