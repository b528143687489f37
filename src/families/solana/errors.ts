/** Rows for Agave's own codes, and for what its nodes and providers say in text. */
import type { ErrorRow } from '../../snapshot/types.ts'
import { codeRow, textRows } from '../errors/row.ts'

/** The one preflight outcome on which another node can say better; where none can, clients need the node's own words. */
export const PREFLIGHT: readonly ErrorRow[] = textRows(
  'missing',
  ['transaction simulation failed: blockhash not found', 'blockhash not found'],
  { codes: [-32002] },
)

/** Cleaned up; skipped or missing in long-term storage; key excluded from secondary indexes; no transaction history. */
export const CLEANED_UP: readonly ErrorRow[] = [codeRow('missing', [-32001, -32009, -32010, -32011])]

/** Not available or not confirmed yet; below minContextSlot. Clients that ask for the next slot wait for these codes. */
export const NOT_YET: readonly ErrorRow[] = [codeRow('missing', [-32004, -32014, -32016])]

/** Limits of providers, under the code by which Agave says that it is behind. */
export const SOLANA_LIMITS: readonly ErrorRow[] = textRows(
  'limited',
  ['*limit', '*too many', '*exceeded', '*capacity'],
  { codes: [-32005] },
)

/** Unhealthy: too many slots behind. */
export const UNHEALTHY: readonly ErrorRow[] = [codeRow('unavailable', [-32005])]

/** No snapshot; no such method. */
export const LACKING: readonly ErrorRow[] = [codeRow('unsupported', [-32008, -32601])]

/** Scan error; long-term storage out of reach; internal error. */
export const FAULTY: readonly ErrorRow[] = [codeRow('internal', [-32012, -32019, -32603])]

/** What nodes and providers leave out. */
export const SOLANA_UNSUPPORTED: readonly ErrorRow[] = textRows('unsupported', [
  'method not found',
  'method not supported',
  'method * is disabled',
  'method * is not available',
  'rpc method unavailable',
  'this method is not supported',
  '*is not available on your plan',
])

/** Text of proxies that lose the code. */
export const SOLANA_MISSING: readonly ErrorRow[] = textRows('missing', [
  'block * cleaned up',
  'transaction history is not available',
  'slot * missing in long-term storage',
  '*excluded from account secondary indexes',
])

/** As above. */
export const SOLANA_NOT_YET: readonly ErrorRow[] = textRows('missing', [
  'block not available for slot',
  'minimum context slot has not been reached',
  'block status not yet available',
])

/** As above. */
export const SOLANA_UNHEALTHY: readonly ErrorRow[] = textRows('unavailable', [
  'node is behind by',
  'rpc node is unhealthy',
])
