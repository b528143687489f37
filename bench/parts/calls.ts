/** The `n`th of the calls that go to a node. */
function forwarded(n: number): string {
  const to = `0x${String(n).padStart(40, '0')}`
  return `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"${to}","data":"0x70a08231"},"latest"]}`
}

/** Calls that go to a node each: equal ones in flight would be one. */
export const FORWARDED: readonly string[] = Array.from({ length: 1_000 }, (_, n) => forwarded(n))

/** The same in batches of so many. */
export function inBatches(size: number): readonly string[] {
  const count = FORWARDED.length / size
  return Array.from({ length: count }, (_, n) => `[${FORWARDED.slice(n * size, (n + 1) * size).join()}]`)
}

/** A call that the gateway answers itself. */
export const LOCAL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}'

/** A call of a method that the configuration does not have. */
export const REFUSED = '{"jsonrpc":"2.0","id":1,"method":"debug_traceCall","params":[]}'
