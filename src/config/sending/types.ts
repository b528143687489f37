/** What the files say of how calls are sent: transactions to a network, and several calls in one body. */

/** In an entry of networks.yaml. */
export interface NetworkSending {
  /** To how many upstreams at once a transaction is sent. */
  readonly broadcast: number
}

/** In an item of routes.yaml. */
export interface RouteSending {
  /** Whether it keeps transactions from the public pool. Those of its network then go to private routes alone. */
  readonly private: boolean
  /** Calls of one client's batch that may go to it in one body; 1: each goes by itself. */
  readonly batch: number
  /** Whether requests to it carry a `traceparent` of ours. */
  readonly trace: boolean
}

/** In a row of methods.yaml. */
export interface RuleSending {
  /** Whether the call hands a transaction to the network; default: rows with `retry: dedupe` do. */
  readonly sends?: boolean
  /** To how many upstreams at once; default: what the network says. */
  readonly broadcast?: number
}
