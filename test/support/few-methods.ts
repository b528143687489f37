/** A methods.yaml of a few rules, for tests about the process: it is read in no time. */
export const fewMethods = `notification: { cost: 1 }
families:
  evm:
    eth_chainId: { answer: chainId, params: [0, 0] }
    web3_sha3: { params: [1, 1], retry: safe }
    eth_gasPrice: { params: [0, 0] }
    eth_getBalance: { params: [1, 2], block: { at: 1, kind: ref, omitted: latest }, reads: state }
    eth_getBlockReceipts: { cost: 3, params: [1, 1], block: { at: 0, kind: ref } }
    trace_block: { cost: 20, tier: paid, needs: [trace], params: [1, 1], block: { at: 0, kind: ref } }
    debug_traceBlockByNumber:
      { cost: 20, tier: paid, needs: [debug], params: [1, 2], block: { at: 0, kind: num }, reads: replay }
`

/** The same with subscriptions. */
export const fewAndSubscribe = `${fewMethods}    eth_subscribe: { needs: [ws], subscribe: eth_unsubscribe }
`
