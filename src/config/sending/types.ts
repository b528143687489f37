/** What the files say of transactions on their way to a network. */

/** In an entry of networks.yaml. */
export interface NetworkSending {
  /** To how many upstreams at once a transaction is sent. */
  readonly broadcast: number
}

/** In an item of routes.yaml. */
export interface RouteSending {
  /** Whether it keeps transactions from the public pool. Those of its network then go to private routes alone. */
  readonly private: boolean
}

/** In a row of methods.yaml. */
export interface RuleSending {
  /** Whether the call hands a transaction to the network; default: rows with `retry: dedupe` do. */
  readonly sends?: boolean
  /** To how many upstreams at once; default: what the network says. */
  readonly broadcast?: number
}
