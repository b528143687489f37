/**
 * Methods that are never forwarded, on any plan and whatever a pattern says: they reach into the node (engine, admin,
 * miner, files, profiling), sign with its keys, or belong to test nodes.
 */
export const DENIED_PREFIXES: readonly string[] = [
  'engine_',
  'admin_',
  'personal_',
  'miner_',
  'clique_',
  'les_',
  'testing_',
  'parity_set',
  'eth_sign',
  'eth_submit',
  'hive_',
  'lotus_',
  'shh_',
  'bzz_',
  'db_',
  'flashbots_',
  'dev_',
  'anvil_',
  'hardhat_',
  'evm_',
]

/** Denied by their whole name. */
export const DENIED_METHODS: ReadonlySet<string> = new Set(
  `eth_sendTransaction eth_resend eth_getWork eth_compileSolidity eth_compileLLL eth_compileSerpent eth_getCompilers
  debug_setHead debug_chaindbCompact debug_chaindbProperty debug_clearTxpool debug_dbGet debug_dbAncient
  debug_dbAncients debug_setTrieFlushInterval debug_getTrieFlushInterval debug_getAccessibleState debug_sync
  debug_replayBadBlock debug_traceBadBlock debug_traceBlockFromFile debug_standardTraceBlockToFile
  debug_standardTraceBadBlockToFile debug_traceChain debug_dumpBlock debug_printBlock debug_seedHash
  debug_getBlockRlp debug_executePayload debug_stateRootWithUpdates debug_verbosity debug_vmodule
  debug_backtraceAt debug_memStats debug_gcStats debug_blockProfile debug_cpuProfile debug_goTrace
  debug_startCPUProfile debug_stopCPUProfile debug_startGoTrace debug_stopGoTrace debug_mutexProfile
  debug_setBlockProfileRate debug_setMutexProfileFraction debug_writeBlockProfile debug_writeMemProfile
  debug_writeMutexProfile debug_setGCPercent debug_freeOSMemory debug_stacks`.split(/\s+/),
)

/** Whether a method, or everything that a `prefix*` covers, is never forwarded. */
export function isDenied(method: string): boolean {
  return DENIED_METHODS.has(method) || DENIED_PREFIXES.some(prefix => method.startsWith(prefix))
}
