/** Parameters to begin with, of the methods that are tried most. */
const ADDRESS = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
const KEY = 'So11111111111111111111111111111111111111112'
const HASH = `0x${'0'.repeat(64)}`

const TEMPLATES: Readonly<Record<string, readonly unknown[]>> = {
  eth_getBalance: [ADDRESS, 'latest'],
  eth_getCode: [ADDRESS, 'latest'],
  eth_getTransactionCount: [ADDRESS, 'latest'],
  eth_getStorageAt: [ADDRESS, '0x0', 'latest'],
  eth_call: [{ to: ADDRESS, data: '0x' }, 'latest'],
  eth_estimateGas: [{ to: ADDRESS, value: '0x1' }],
  eth_getBlockByNumber: ['latest', false],
  eth_getBlockByHash: [HASH, false],
  eth_getBlockReceipts: ['latest'],
  eth_getTransactionByHash: [HASH],
  eth_getTransactionReceipt: [HASH],
  eth_getLogs: [{ fromBlock: 'latest', toBlock: 'latest' }],
  eth_feeHistory: ['0x4', 'latest', [25, 75]],
  debug_traceTransaction: [HASH, { tracer: 'callTracer' }],
  debug_traceBlockByNumber: ['latest', { tracer: 'callTracer' }],
  trace_block: ['latest'],
  trace_transaction: [HASH],
  getAccountInfo: [KEY, { encoding: 'base64' }],
  getBalance: [KEY],
  getBlock: [1, { maxSupportedTransactionVersion: 0, transactionDetails: 'none' }],
  getSignaturesForAddress: [KEY, { limit: 5 }],
  getTokenSupply: [KEY],
}

/** The params of a first call, as JSON. */
export const templateOf = (method: string): string =>
  JSON.stringify(Object.hasOwn(TEMPLATES, method) ? TEMPLATES[method] : [])
