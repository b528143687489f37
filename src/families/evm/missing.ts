/** Rows for state, blocks and transactions that an EVM node does not keep, or has not seen yet. */
import type { ErrorRow } from '../../snapshot/types.ts'
import { codeRow, everyCodeRows, textRows } from '../errors/row.ts'

/** State: geth, BSC, Bor, coreth. */
export const GETH_STATE: readonly ErrorRow[] = textRows('missing', [
  '*missing trie node',
  'header not found',
  'header for hash not found',
  'required historical state unavailable',
  'historical state * is not available',
  'historical state * unavailable',
  'state is not available',
  'state * is not available',
  "state histories haven't been fully indexed yet",
  'state has been pruned',
  '*after last accepted block',
  'cannot query unfinalized data',
  'hash is not currently canonical',
  '*historical state not available',
  '*historical state that is not available',
  'historical backend error',
  '*trie does not',
  'unsupported block number',
])

/** Blocks, transactions and receipts: geth, op-geth, Bor. */
export const GETH_BLOCKS: readonly ErrorRow[] = textRows('missing', [
  'block not found',
  'block * not found',
  'unknown block',
  'could not find block',
  'request beyond head block',
  'transaction indexing is in progress',
  'no historical rpc is available',
  'pruned history unavailable',
  'history has been pruned',
  '*has been pruned; earliest available is',
  '*has been pruned',
])

/** Bodies, receipts and state by their block (Erigon, reth), and results that a provider found empty. */
export const WITHOUT_DATA: readonly ErrorRow[] = textRows('missing', [
  '*not found for block',
  '*purged for block',
  'no state found for block',
  'no state data',
  'no receipts data',
  'no tx data',
  'no block data',
  'receipt not available for',
  'node state is pruned',
])

/** Nethermind, Besu, Erigon, reth, anvil, OpenEthereum. */
export const OTHER_CLIENTS: readonly ErrorRow[] = [
  ...everyCodeRows('missing', [
    'distance to target block exceeds maximum proof window',
    'blockoutofrangeerror',
  ]),
  ...textRows('missing', [
    'no state available for block',
    'one of the blocks specified in filter * cannot be found',
    'world state unavailable',
    'unable to find block',
    'old data not available due to pruning',
    'requested block is too old',
    "proofs are available only for the 'latest' block",
    'state at block * is pruned',
    'block height is * but requested was',
    'this request is not supported because your node is running with state pruning',
  ]),
]

/** ZKsync, Substrate and Cosmos chains, Filecoin, Kaia. */
export const OTHER_CHAINS: readonly ErrorRow[] = textRows('missing', [
  'block with such an id is pruned',
  'l1 batch with such an id is pruned',
  'pubdata not found',
  'expect block number from id',
  '*state already discarded for',
  'failed to load state at height',
  '*version does not exist',
  'height * is not available',
  'height is not available',
  '*version has either been pruned',
  'evm module does not exist on height',
  'failed to compute tipset state',
  'load state tree: failed to load state tree',
  'could not find results for height',
  'could not find finalizeblock',
  'invalid blockhash finalized',
  'bad tipset height: lookbacks of more than',
  'the block does not exist',
  'the header does not exist',
  'requested data is not available',
])

/** What providers say of nodes and plans without old state. */
export const WITHOUT_ARCHIVE: readonly ErrorRow[] = textRows('missing', [
  'project id does not have access to archive state',
  'archive, debug and trace requests are not available on your current plan',
  'archive requests require a personal token',
  'archive data is not available',
  'missing archive data',
  'state does not maintain archive data',
  'empty reader set',
  "can't route your request to suitable provider",
  'chainexception: unexpected error (code=40000)',
])

/** A trace knows no null: the transaction may be one that this node has not indexed. */
export const TRACED: readonly ErrorRow[] = textRows(
  'missing',
  ['transaction not found', 'transaction * not found', 'cannot find transaction'],
  { methods: ['debug_*', 'trace_*'] },
)

/** EIP-4444; unknown block of the execution APIs. */
export const MISSING_CODES: readonly ErrorRow[] = [codeRow('missing', [4444, -39001])]

/** EIP-1474: resource not found. */
export const RESOURCE_CODE: readonly ErrorRow[] = [codeRow('missing', [-32001])]

/** Blocks that this node has not seen yet, or not as final. */
export const BEHIND: readonly ErrorRow[] = textRows('behind', [
  'block range extends beyond current head block',
  'block is out of range',
  "block with such an id doesn't exist yet",
  'height must be less than or equal',
  '*must be less than or equal to the current blockchain height',
  '*is greater than latest',
  '*greater than the latest block',
  'pending block is not available',
  'pending block not found',
  'safe block not found',
  'finalized block not found',
  'block is not yet available',
  'requested block is in the future',
  'requested block range is in the future',
  'failed to get latest safe block',
  'failed to get latest finalized block',
])
