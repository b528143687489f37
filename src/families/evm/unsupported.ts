/** Rows for methods that an EVM node or the plan at a provider leaves out. */
import type { ErrorRow } from '../../snapshot/types.ts'
import { codeRow, everyCodeRows, textRows } from '../errors/row.ts'

/** Nodes and gateways, also under codes of their own. */
export const UNSUPPORTED: readonly ErrorRow[] = [
  ...everyCodeRows('unsupported', [
    'method not found',
    'unsupported method',
    '*is not available on the free tier',
    '*is not included in your current plan',
  ]),
  ...textRows('unsupported', [
    'the method * does not exist/is not available',
    'the method * is not available',
    'the method * does not exist',
    'method * does not exist',
    'method * not found',
    'method not supported',
    'method is not supported',
    'method * is not supported',
    'method not implemented',
    'method not available',
    'method not allowed',
    'method is disabled',
    'method * is disabled',
    'method is blocked',
    'unknown method',
    'unrecognized method',
    'not implemented',
    'this request is not implemented yet',
    'this method is not supported',
    'this method is not available',
    'this request method is not supported',
    'this rpc method is not supported',
    'module * is disabled',
    'namespace * is disabled',
    'api * is not enabled',
    'tracing is not enabled',
    'tracing is disabled',
    'tree api is not available',
    'notifications not supported',
    'rpc method is not whitelisted',
    '*not whitelisted',
    '*is not available on your plan',
    'no suitable api connectors to process method',
  ]),
]

/** JSON-RPC 2.0: method not found; EIP-1474: method not supported. */
export const UNSUPPORTED_CODE: readonly ErrorRow[] = [codeRow('unsupported', [-32601])]

/** EIP-1474 */
export const UNSUPPORTED_EVM_CODE: readonly ErrorRow[] = [codeRow('unsupported', [-32004])]
