import { readFileSync, readdirSync } from 'node:fs'
import t from 'tap'
import { isDenied } from '../../src/config/denied.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { RuleConfig } from '../../src/config/types.ts'
import { root } from '../support/paths.ts'

const { families } = (await loadConfig(root, {})).config!

/** What a family serves, by name; a subscription with what ends it. */
function served(rules: Readonly<Record<string, RuleConfig>>): ReadonlySet<string> {
  return new Set(
    Object.entries(rules)
      .filter(([, rule]) => rule.enabled !== false)
      .flatMap(([name, { subscribe }]) => (subscribe === undefined ? [name] : [name, subscribe])),
  )
}

const evm = served(families.evm)
const solana = served(families.solana)

/** Methods of the execution API's OpenRPC document that nodes serve on their public port. */
const EXECUTION_API =
  `eth_accounts eth_blobBaseFee eth_blockNumber eth_call eth_chainId eth_config eth_createAccessList
  eth_estimateGas eth_feeHistory eth_fillTransaction eth_gasPrice eth_getBalance eth_getBlockByHash eth_getBlockByNumber
  eth_getBlockReceipts eth_getBlockTransactionCountByHash eth_getBlockTransactionCountByNumber eth_getCode
  eth_getFilterChanges eth_getFilterLogs eth_getLogs eth_getProof eth_getStorageAt eth_getTransactionByBlockHashAndIndex
  eth_getTransactionByBlockNumberAndIndex eth_getTransactionByHash eth_getTransactionCount eth_getTransactionReceipt
  eth_getUncleCountByBlockHash eth_getUncleCountByBlockNumber eth_maxPriorityFeePerGas eth_newBlockFilter eth_newFilter
  eth_newPendingTransactionFilter eth_sendRawTransaction eth_simulateV1 eth_subscribe eth_syncing eth_uninstallFilter
  eth_unsubscribe net_version debug_getRawBlock debug_getRawHeader debug_getRawReceipts debug_getRawTransaction`
    .trim()
    .split(/\s+/)

/** Of viem's methods: what wallets answer, what a paymaster does, and what a node has of itself and no client reads. */
const NOT_OURS =
  /^(wallet_|pm_|debug_bundler_|eth_requestAccounts$|eth_sendUnsignedTransaction$|eth_coinbase$|eth_protocolVersion$)/

/** Of @solana/kit's methods: what scans all accounts, and gives away test coins. */
const SWITCHED_OFF = ['getLargestAccounts', 'requestAirdrop']

t.test('the methods of the execution API', t => {
  t.same(
    EXECUTION_API.filter(name => !evm.has(name)),
    [],
  )
  t.end()
})

t.test('the methods that viem knows, as installed', t => {
  const text = readFileSync(`${root}/node_modules/viem/types/eip1193.ts`, 'utf8')
  const names = [...new Set([...text.matchAll(/Method: '([^']+)'/g)].map(([, name]) => name!))]
  t.ok(names.length > 90, `${names.length} names`)
  t.same(
    names.filter(name => !evm.has(name) && !isDenied(name) && !NOT_OURS.test(name)),
    [],
  )
  t.end()
})

t.test('the methods and subscriptions that @solana/kit has types for, as installed', t => {
  const files = readdirSync(`${root}/node_modules/@solana/rpc-api/dist/types`)
  const names = files.flatMap(
    file => /^((?:get|is|minimum|request|send|simulate)\w*)\.d\.ts$/.exec(file)?.[1] ?? [],
  )
  t.ok(names.length > 50, `${names.length} names`)
  t.same(
    names.filter(name => !solana.has(name)),
    SWITCHED_OFF,
  )
  for (const kind of ['account', 'logs', 'program', 'root', 'signature', 'slot'])
    t.ok(solana.has(`${kind}Subscribe`), kind)
  t.end()
})
