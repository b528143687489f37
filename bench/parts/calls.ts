/** A call that goes to a node. */
export const FORWARDED =
  '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"0x0000000000000000000000000000000000000001","data":"0x70a08231"},"latest"]}'

/** A call that the gateway answers itself. */
export const LOCAL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'

/** A call of a method that the configuration does not have. */
export const REFUSED = '{"jsonrpc":"2.0","id":1,"method":"debug_traceCall","params":[]}'
