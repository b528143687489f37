/** Names of real methods, by the client that has them. Those under `dangerous` change, stop, profile or sign with a node. */

export const dangerous: Readonly<Record<string, string>> = {
  geth: `debug_setHead debug_chaindbCompact debug_chaindbProperty debug_dbGet debug_dbAncient debug_dbAncients
    debug_setTrieFlushInterval debug_getTrieFlushInterval debug_getAccessibleState debug_sync debug_dumpBlock
    debug_printBlock debug_seedHash debug_verbosity debug_vmodule debug_backtraceAt debug_memStats debug_gcStats
    debug_cpuProfile debug_startCPUProfile debug_stopCPUProfile debug_goTrace debug_startGoTrace debug_stopGoTrace
    debug_blockProfile debug_setBlockProfileRate debug_writeBlockProfile debug_mutexProfile
    debug_setMutexProfileFraction debug_writeMutexProfile debug_writeMemProfile debug_stacks debug_freeOSMemory
    debug_setGCPercent debug_setMemoryLimit debug_freezeClient debug_traceBadBlock debug_traceBlockFromFile
    debug_traceChain debug_standardTraceBlockToFile debug_standardTraceBadBlockToFile admin_addPeer admin_removePeer
    admin_addTrustedPeer admin_removeTrustedPeer admin_peers admin_nodeInfo admin_datadir admin_exportChain
    admin_importChain admin_sleepBlocks admin_startHTTP admin_stopHTTP admin_startRPC admin_startWS admin_stopWS
    personal_newAccount personal_unlockAccount personal_lockAccount personal_sendTransaction personal_sign
    personal_importRawKey personal_openWallet miner_start miner_stop miner_setEtherbase miner_setExtra
    miner_setGasLimit miner_setGasPrice clique_propose clique_discard engine_newPayloadV4 engine_getPayloadV3
    engine_forkchoiceUpdatedV3 les_addBalance eth_sign eth_signTransaction eth_sendTransaction eth_resend
    eth_submitWork eth_submitHashrate testing_buildBlockV1 dev_addWithdrawal db_putString shh_post`,
  clef: `account_new account_signTransaction account_signData account_signTypedData`,
  erigon: `debug_setGCPercent debug_setMemoryLimit debug_freeOSMemory admin_addPeer`,
  nethermind: `debug_deleteChainSlice debug_resetHead debug_insertReceipts debug_migrateReceipts debug_getFromDb
    debug_getConfigValue admin_prune admin_verifyTrie admin_importHistory admin_exportEraHistory admin_setSolc
    testing_commitBlockV1 parity_setEngineSigner parity_setEngineSignerSecret parity_clearEngineSigner evm_mine
    baseline_deploy vault_addVault taikoAuth_txPoolContent personal_ecRecover`,
  besu: `debug_resyncWorldState debug_batchSendRawTransaction debug_replayBlock debug_metrics admin_changeLogLevel
    admin_generateLogBloomCache admin_logsRepairCache admin_logsRemoveCache perm_addAccountsToAllowlist
    perm_addNodesToAllowlist perm_reloadPermissionsFromFile perm_removeNodesFromAllowlist
    priv_distributeRawTransaction priv_deletePrivacyGroup eea_sendRawTransaction plugins_reloadPluginConfig
    ibft_proposeValidatorVote ibft_discardValidatorVote qbft_proposeValidatorVote qbft_discardValidatorVote
    miner_changeTargetGasLimit miner_setCoinbase`,
  reth: `reth_jit reth_newPayload reth_forkchoiceUpdated debug_executePayload debug_stateRootWithUpdates
    debug_replayBadBlock debug_clearTxpool admin_clearTxpool flashbots_validateBuilderSubmissionV3`,
  bor: `miner_setRecommitInterval`,
  bsc: `mev_addBuilder mev_removeBuilder miner_mevRunning`,
  nitro: `nitroexecution_reorg nitroexecution_digestMessage validation_validate maintenance_trigger auctioneer_submitAuctionResolutionTransaction
    das_store`,
  opStack: `admin_startSequencer admin_stopSequencer admin_resetDerivationPipeline admin_overrideLeader
    admin_postUnsafePayload admin_setLogLevel admin_startBatcher admin_stopBatcher opp2p_connectPeer
    opp2p_disconnectPeer opp2p_blockPeer opp2p_blockAddr opp2p_blockSubnet opp2p_unblockPeer opp2p_protectPeer
    opp2p_unprotectPeer conductor_pause conductor_resume conductor_stop conductor_transferLeader
    conductor_removeServer conductor_addServerAsVoter conductor_overrideLeader`,
  avalanche: `admin_startCPUProfiler admin_stopCPUProfiler admin_memoryProfile admin_lockProfile admin_setLogLevel`,
  openEthereum: `parity_setMode parity_setMaxGasLimit parity_setTransactionsLimit parity_addReservedPeer
    parity_removeReservedPeer parity_removeTransaction parity_startNetwork parity_stopNetwork parity_killAccount
    parity_changePassword parity_exportAccount parity_importGethAccounts parity_executeUpgrade
    parity_acceptNonReservedPeers parity_dropNonReservedPeers parity_signMessage parity_postTransaction
    parity_generateSecretPhrase secretstore_signRawHash signer_confirmRequest`,
  quorum: `raft_addPeer raft_removePeer raft_promoteToPeer quorumPermission_addOrg istanbul_propose istanbul_discard`,
  kaia: `klay_sign klay_sendTransaction kaia_signTransaction governance_vote subbridge_registerBridge mainbridge_addPeer`,
  substrate: `author_rotateKeys author_insertKey author_removeExtrinsic system_addReservedPeer system_removeReservedPeer
    system_addLogFilter system_resetLogFilter offchain_localStorageSet`,
  testNodes: `anvil_setBalance anvil_impersonateAccount anvil_reset anvil_loadState hardhat_setCode hardhat_mine
    hardhat_setNonce evm_increaseTime evm_revert evm_snapshot evm_setAutomine tenderly_setBalance
    tenderly_addBalance tenderly_setStorageAt test_mineBlocks test_rewindToBlock test_setChainParams
    sandbox_patch_state devnet_mint surfnet_setAccount surfnet_timeTravel`,
  agave: `exit validatorExit setLogFilter setIdentity setIdentityFromBytes setStakedNodesOverrides
    setRepairWhitelist repairShredFromPeer repairWhitelist setPublicTpuAddress setPublicTpuForwardsAddress
    setPublicTvuAddress addAuthorizedVoter addAuthorizedVoterFromBytes removeAllAuthorizedVoters reloadPlugin
    loadPlugin unloadPlugin listPlugins startProgress startTime rpcAddress contactInfo selectActiveInterface
    manageBlockProduction registerNode deregisterNode`,
  cosmos: `unsafe_flush_mempool unsafe_start_cpu_profiler unsafe_stop_cpu_profiler unsafe_write_heap_profile
    dial_seeds dial_peers`,
}

/** What reads, simulates or sends one transaction, and has to stay callable through a pattern; the shipped methods apart. */
export const harmless: Readonly<Record<string, string>> = {
  geth: `debug_traceBlock debug_traceBlockByNumber debug_traceBlockByHash debug_traceTransaction debug_traceCall
    debug_intermediateRoots debug_storageRangeAt debug_accountRange debug_getModifiedAccountsByNumber
    debug_getModifiedAccountsByHash debug_getRawBlock debug_getRawHeader debug_getRawReceipts
    debug_getRawTransaction debug_getBadBlocks debug_preimage debug_executionWitness debug_codeByHash
    eth_sendRawTransaction eth_sendRawTransactionSync eth_sendRawTransactionConditional eth_createAccessList
    eth_fillTransaction eth_simulateV1 eth_newFilter eth_uninstallFilter eth_unsubscribe eth_subscribe
    eth_pendingTransactions eth_feeHistory eth_config net_listening net_peerCount net_version rpc_modules
    txpool_content txpool_contentFrom txpool_inspect txpool_status web3_clientVersion web3_sha3`,
  erigon: `erigon_getHeaderByNumber erigon_getLogs erigon_getBlockReceiptsByBlockHash erigon_nodeInfo erigon_forks
    erigon_issuance erigon_watchTheBurn erigon_cumulativeChainTraffic erigon_blockNumber overlay_getLogs
    overlay_callConstructor ots_searchTransactionsBefore ots_traceTransaction ots_getApiLevel bor_getSnapshot
    bor_getSigners bor_getAuthor trace_filter trace_block trace_call trace_callMany trace_rawTransaction
    trace_replayTransaction trace_replayBlockTransactions trace_get trace_transaction debug_traceCallMany
    eth_callMany eth_callBundle eth_getBlockReceipts parity_listStorageKeys graphql_query`,
  nethermind: `debug_getChainLevel debug_simulateV1 debug_getSyncStage debug_traceTransactionByBlockAndIndex
    debug_traceTransactionInBlockByHash debug_traceTransactionInBlockByIndex trace_simulateV1 proof_call
    proof_getTransactionByHash proof_getTransactionReceipt eth_getAccountInfo eth_getBlockAccessListByHash
    rbuilder_getAccount rbuilder_getCodeByHash parity_pendingTransactions parity_getBlockReceipts parity_enode`,
  besu: `debug_accountAt debug_storageRangeAt txpool_besuStatistics txpool_besuTransactions
    txpool_besuPendingTransactions ibft_getValidatorsByBlockNumber ibft_getSignerMetrics ibft_getPendingVotes
    qbft_getValidatorsByBlockNumber qbft_getPendingVotes net_services net_enode eth_getMinerDataByBlockHash`,
  reth: `reth_getBalanceChangesInBlock reth_getBlockExecutionOutcome reth_subscribeChainNotifications
    trace_blockOpcodeGas trace_transactionOpcodeGas debug_executionWitnessByBlockHash debug_chainConfig
    debug_getRawTransactions`,
  bsc: `parlia_getSnapshot parlia_getValidators parlia_getTurnLength eth_getFinalizedBlock eth_getBlobSidecars
    mev_bestBidGasFee mev_params mev_running eth_sendBundle`,
  nitro: `arb_getL1Confirmations arb_findBatchContainingBlock arb_maintenanceStatus arb_blockMetadata
    arbtrace_block arbtrace_replayTransaction arbtrace_replayBlockTransactions arbtrace_callMany
    arbdebug_pricingModel arbdebug_timeoutQueue timeboost_sendExpressLaneTransaction`,
  opStack: `optimism_syncStatus optimism_outputAtBlock optimism_rollupConfig optimism_version
    optimism_safeHeadAtL1Block opp2p_self opp2p_peers opp2p_peerStats opp2p_discoveryTable
    opp2p_listBlockedPeers eth_getProofs`,
  zkSync: `zks_estimateFee zks_getAllAccountBalances zks_getBlockDetails zks_getBridgeContracts zks_getProof
    zks_getL1BatchDetails zks_L1ChainId zks_getTransactionDetails zks_sendRawTransactionWithDetailedOutput
    unstable_getBatchFri en_syncL2Block`,
  others: `linea_estimateGas linea_getProof scroll_getBlockByHash klay_getBlockReceipts kaia_getCouncil
    hmyv2_getBalance warp_getMessage zkevm_batchNumber zkevm_virtualBatchNumber zkevm_isBlockVirtualized
    zkevm_getBatchByNumber zkevm_consolidatedBlockNumber starknet_addInvokeTransaction
    starknet_addDeclareTransaction starknet_addDeployAccountTransaction starknet_getEvents starknet_blockNumber
    starknet_syncing starknet_traceBlockTransactions starknet_simulateTransactions pathfinder_getProof
    eth_sendUserOperation eth_estimateUserOperationGas eth_getUserOperationReceipt pm_sponsorUserOperation
    alchemy_getAssetTransfers alchemy_getTokenBalances alchemy_simulateExecution qn_fetchNFTs
    tenderly_simulateTransaction tenderly_traceTransaction eth_sendPrivateTransaction mev_sendBundle
    mev_simBundle chain_getBlock chain_getHeader state_getStorage state_call system_health system_chain
    system_properties author_submitExtrinsic author_pendingExtrinsics`,
  solana: `getAsset getAssetsByOwner searchAssets getAssetProof getPriorityFeeEstimate sendBundle simulateBundle
    getInflightBundleStatuses getTipAccounts sendTransaction simulateTransaction requestAirdrop minimumLedgerSlot
    isBlockhashValid getBlockCommitment getProgramAccountsV2 getTransactionsForAddress`,
}

/** All names of a table. */
export function namesOf(table: Readonly<Record<string, string>>): string[] {
  return Object.values(table).flatMap(names => names.trim().split(/\s+/))
}
