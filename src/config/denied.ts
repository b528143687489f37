/**
 * Methods that are never forwarded, on any plan and whatever a pattern says: they reach into the node (engine, admin, miner,
 * files, profiles, its database and peers), sign with its keys, send in bulk, or belong to test nodes.
 */

/** Denied with everything behind them. */
export const DENIED_PREFIXES: readonly string[] = `
  engine_ admin_ personal_ miner_ clique_ les_ testing_ parity_set eth_sign eth_submit hive_ lotus_ shh_ bzz_ db_
  flashbots_ dev_ anvil_ hardhat_ evm_ devnet_ sandbox_ surfnet_ buidler_
  perm_ priv_ privx_ eea_ plugins_ raft_ quorumPermission_ quorumExtension_ secretstore_ signer_ vault_ baseline_
  conductor_ nitroexecution_ nitroconsensus_ validation_ maintenance_ auctioneer_ taikoAuth_`
  .trim()
  .split(/\s+/)

/** Denied by their whole name. */
export const DENIED_METHODS: ReadonlySet<string> = new Set(
  `eth_sendTransaction eth_resend eth_getWork eth_compileSolidity eth_compileLLL eth_compileSerpent eth_getCompilers
  debug_chaindbCompact debug_chaindbProperty debug_dbGet debug_dbAncient debug_dbAncients debug_getFromDb
  debug_getTrieFlushInterval debug_getAccessibleState debug_traceBadBlock debug_traceChain debug_printBlock
  debug_seedHash debug_getBlockRlp debug_stateRootWithUpdates debug_verbosity debug_vmodule debug_backtraceAt
  debug_memStats debug_gcStats debug_goTrace debug_stacks debug_metrics debug_getConfigValue
  test_mineBlocks test_rewindToBlock test_modifyTimestamp test_getLogHash
  reth_jit reth_newPayload reth_forkchoiceUpdated das_store offchain_localStorageSet author_hasKey
  account_new account_signTransaction account_signData account_signTypedData account_signGnosisSafeTx
  parity_killAccount parity_testPassword parity_openVault parity_closeVault parity_newVault parity_signMessage
  parity_postTransaction parity_postSign parity_decryptMessage parity_acceptNonReservedPeers
  parity_generateSecretPhrase parity_newAccountFromPhrase parity_newAccountFromWallet parity_newAccountFromSecret
  klay_sign klay_signTransaction klay_sendTransaction kaia_sign kaia_signTransaction kaia_sendTransaction
  hmy_sign hmy_sendTransaction governance_vote unsafe_flush_mempool unsafe_start_cpu_profiler unsafe_stop_cpu_profiler
  unsafe_write_heap_profile dial_seeds dial_peers
  validatorExit listPlugins rpcAddress contactInfo addAuthorizedVoter addAuthorizedVoterFromBytes
  updatePublicTpu repairShredFromPeer repairWhitelist getSecondaryIndexKeySize selectActiveInterface
  manageBlockProduction registerNode deregisterNode`.split(/\s+/),
)

/** First words of names that change a node, in whatever namespace they stand; Solana's names have none. */
const CHANGES = `set unset reset delete remove insert migrate resync write start stop restart pause unpause resume enable
  disable clear purge wipe prune flush rewind rollback reorg import export inject impersonate shutdown exit kill terminate
  load unload reload repair rebuild reindex compact drop ban unban evict freeze unfreeze lock unlock patch mine`

/** First words that change a node in the namespaces that are about the node itself, and are harmless elsewhere. */
const CHANGES_NODE = `replay batch bulk free add create dump put force change update sync commit execute register override
  increase propose discard vote promote demote connect disconnect trigger rotate transfer accept post dial handle`

const NODE_NAMESPACES = `debug arbdebug reth erigon nethermind besu parity bsc bor net rpc txpool system author offchain
  opp2p mev ibft qbft istanbul tenderly mainbridge subbridge`

/** Names by their shape: a verb stands first in the name behind its namespace, and ends where the next word begins. */
export const SHAPES: readonly RegExp[] = [
  new RegExp(`^(?:[A-Za-z0-9]+_)?(?:${oneOf(CHANGES)})(?=[A-Z0-9_]|$)`),
  new RegExp(`^(?:${oneOf(NODE_NAMESPACES)})_(?:${oneOf(CHANGES_NODE)})(?=[A-Z0-9_]|$)`),
  /^opp2p_(?:un)?(?:block|protect)[A-Z]/,
  /^[A-Za-z0-9]+_[A-Za-z0-9]*(?:Profile|Profiler|Profiling|ToFile|FromFile)(?=[A-Z0-9]|$)/,
  // One call that carries many transactions, under any verb.
  /^[A-Za-z0-9]+_(?:batch|bulk)[A-Za-z0-9]*Send|^[A-Za-z0-9]+_send[A-Za-z0-9]*(?:Batch|Bulk)(?=[A-Z0-9]|$)/,
  // Maintenance of beacon nodes and of validators' keys, over HTTP.
  /^[A-Z]+ \/(?:teku\/v\d+\/admin|lighthouse\/(?:database|finalize|compaction|custody|add_peer|remove_peer)|nimbus\/v\d+\/(?:chronicles|graffiti))(?:\/|$)/,
  /^[A-Z]+ \/eth\/v\d+\/(?:keystores|remotekeys|validator\/[^/]+\/(?:feerecipient|graffiti|gas_limit|voluntary_exit))(?:\/|$)/,
  /^(?:POST|PUT|PATCH|DELETE) \/prysm\/v\d+\/node\/trusted_peers(?:\/|$)/,
]

/** What controls a node of a test chain: its clock, its blocks, its accounts. */
const CONTROLS_TEST_NODE = /^(?:evm|anvil|hardhat)_[A-Za-z0-9_]+$/

/** Whether a denied method is one that a network for tests may allow by its name. */
export function isForDevnets(method: string): boolean {
  return CONTROLS_TEST_NODE.test(method)
}

/** Whether a method, or everything that a `prefix*` covers, is never forwarded. */
export function isDenied(method: string): boolean {
  return (
    DENIED_METHODS.has(method) ||
    DENIED_PREFIXES.some(prefix => method.startsWith(prefix)) ||
    SHAPES.some(shape => shape.test(method))
  )
}

function oneOf(words: string): string {
  return words.trim().split(/\s+/).join('|')
}
