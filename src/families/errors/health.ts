/** Rows for nodes and providers that are out of service, and for their faults. */
import type { ErrorRow } from '../../snapshot/types.ts'
import { codeRow, textRows } from './row.ts'

/** A node that is not synchronized. */
export const SYNCING: readonly ErrorRow[] = textRows('unavailable', [
  'node is syncing',
  'the node is syncing',
  'node is still syncing',
  'still syncing',
  'node is not synced',
  'node not synced',
  'the node is not synced',
  'not synced',
  'sync in progress',
  'client is syncing',
  'node is not ready',
  'node is starting',
])

/** Nobody behind the provider, or too much load: proxyd, Envoy, nodecore, dshackle, dRPC and others. */
export const OUT_OF_SERVICE: readonly ErrorRow[] = textRows('unavailable', [
  'no backend is currently healthy',
  'backend is currently not healthy',
  'backend offline',
  'backend is over capacity',
  'backend unavailable',
  'no healthy upstream',
  'no available upstream',
  'no server available',
  'no available nodes',
  'no nodes available',
  'no available server',
  'all upstreams failed',
  'upstream connect error',
  'upstream unavailable',
  'service unavailable',
  'service temporarily unavailable',
  'temporarily unavailable',
  'server is overloaded',
  'server overloaded',
  'server is busy',
  'server busy',
  'node is busy',
  'node is unhealthy',
  '*under too much load',
  'server is shutting down',
  'shutting down',
  'bad gateway',
  'gateway timeout',
  '*connection refused',
  '*connection reset by peer',
  '*i/o timeout',
  'temporary internal error. please retry',
])

/** Faults behind the node's or the provider's door. */
export const FAULTS: readonly ErrorRow[] = textRows('internal', [
  'internal error',
  'internal server error',
  'internal json-rpc error',
  'method handler crashed',
  'backend returned an invalid response',
  'incorrect response body',
  'invalid upstream response',
  'failed to parse response',
  'unexpected http status',
  'unexpected eof',
  'database error',
  'leveldb: closed',
  'pebble: closed',
  'runtime error:',
  'request timed out',
  'request timeout on the free tier',
  'context deadline exceeded',
  'context canceled',
])

/** JSON-RPC 2.0: internal error. Hardhat's reverts, which come under it too, were recognised before. */
export const INTERNAL_CODE: readonly ErrorRow[] = [codeRow('internal', [-32603])]
