/**
 * Names of methods that hand a transaction to a network, from the documentation of nodes, builders and relays. They
 * keep transactions on private routes also where a row does not say `sends: true`, or a pattern covers the name.
 */

/** A verb of sending, first in the name behind its namespaces: `eth_sendBundle`, `transaction_v1_broadcast`. */
const VERB = /^(?:[a-z0-9]+[_.:-])*(?:send|submit|broadcast)/

/** Whole names in lower case; those that the verb tells as well are here for patterns that cover them. */
const NAMES: ReadonlySet<string> = new Set(
  `eth_sendrawtransaction sendtransaction sendrawtransaction author_submitextrinsic broadcast_tx_sync send_tx
  eth_callbundle eth_cancelbundle eth_cancelprivatetransaction mev_simbundle
  blxr_tx blxr_private_tx blxr_batch_tx blxr_simulate_bundle bsc_private_tx polygon_private_tx
  testmempoolaccept bumpfee
  starknet_addinvoketransaction starknet_adddeclaretransaction starknet_adddeployaccounttransaction
  starknet_adddeploytransaction
  sui_executetransactionblock iota_executetransactionblock
  filecoin.mpoolpush filecoin.mpoolpushmessage filecoin.mpoolpushuntrusted filecoin.mpoolbatchpush
  filecoin.mpoolbatchpushmessage filecoin.mpoolbatchpushuntrusted
  avm.issuetx platform.issuetx avax.issuetx
  account_put_deploy account_put_transaction
  createtransaction relay_tx`.split(/\s+/),
)

/** Whether a method, or all that a `prefix*` covers, hands a transaction to the network. Some nodes ignore case. */
export function carriesTransaction(method: string): boolean {
  const name = method.toLowerCase()
  return NAMES.has(name) || VERB.test(name)
}

/** Whether a `prefix*` covers a well-known method that hands a transaction to the network. */
export function coversTransactions(pattern: string): boolean {
  const prefix = pattern.slice(0, -1).toLowerCase()
  return [...NAMES].some(name => name.startsWith(prefix))
}
