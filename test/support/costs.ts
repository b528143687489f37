import { shippedMethods } from './shipped-methods.ts'

/** What the specification of the service fixes; everything else it names costs what the shipped file says. */
export const specifiedCosts: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_feeHistory: 1,
  eth_getTransactionCount: 1,
  eth_getTransactionByBlockNumberAndIndex: 1,
  eth_getTransactionByBlockHashAndIndex: 1,
  eth_getBlockReceipts: 3,
  trace_transaction: 5,
  trace_filter: 5,
  debug_traceCall: 5,
  debug_traceBlockByNumber: 20,
}

/** The cost of an EVM method in units: as specified, else as shipped. */
export async function evmCosts(): Promise<(method: string) => number> {
  const { evm } = (await shippedMethods()).families
  return method => {
    if (!(method in (evm ?? {}))) throw new Error(`${method} is no EVM method of the shipped file`)
    return specifiedCosts[method] ?? evm?.[method]?.cost ?? 1
  }
}
