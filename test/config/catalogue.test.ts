import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { loadConfig } from '../../src/config/load.ts'
import type { RuleConfig } from '../../src/config/types.ts'

/** A row of catalogue.yaml. */
interface Row {
  readonly family: 'evm' | 'solana'
  readonly enabled?: boolean
  readonly cost: number
  readonly tier: string
  readonly needs: readonly string[]
  readonly params: readonly [number, number]
  readonly block?: RuleConfig['block']
  readonly commitment?: number
  readonly retry: string
  readonly hedge: boolean
  readonly timeout: string
  readonly sticky?: string
  readonly null_is_lag?: boolean
  readonly local?: boolean
  readonly networks_only?: readonly string[]
  readonly transport?: 'ws'
}

const rows: Record<string, Row> = parse(
  readFileSync(new URL('catalogue.yaml', import.meta.url), 'utf8'),
).methods
const { config } = await loadConfig(new URL('../..', import.meta.url).pathname, {})
const families = config!.families

/** Words of `needs` that every route is taken to have, and those that say what is read. */
const UNSAID = 'core history logs filters mempool write scan proof account replay archive_if_old'.split(' ')

const DIALECTS: Record<string, string[]> = {
  polygon: ['bor'],
  bsc: ['bsc'],
  opbnb: [],
  arbitrum: ['arbitrum'],
  'op-stack': ['op-stack'],
  linea: ['linea'],
}

const ANSWERS: Record<string, string> = {
  eth_chainId: 'chainId',
  net_version: 'networkId',
  eth_accounts: 'emptyList',
  eth_mining: 'false',
  eth_hashrate: 'zero',
  net_listening: 'true',
  eth_health: 'health',
  getHealth: 'health',
}

const JSON_PARAMS: Record<string, number[]> = {
  eth_feeHistory: [2],
  debug_traceCall: [2],
  debug_traceTransaction: [1],
  debug_traceBlockByNumber: [1],
  debug_traceBlockByHash: [1],
  debug_traceBlock: [1],
  debug_traceTransactionByBlockAndIndex: [2],
  debug_traceTransactionByBlockhashAndIndex: [2],
}

const TRACED = [...Object.keys(JSON_PARAMS).filter(name => name.startsWith('debug_')), 'debug_traceCallMany']
const TRACERS = ['callTracer', 'prestateTracer', '4byteTracer', 'noopTracer', 'flatCallTracer', 'muxTracer']

/** Where results repeat the hash that the call names. */
const HASHES: Record<string, string> = {
  eth_getBlockByHash: 'hash',
  eth_getHeaderByHash: 'hash',
  eth_getBlockReceipts: '0.blockHash',
  eth_getTransactionByHash: 'hash',
  eth_getTransactionByBlockHashAndIndex: 'blockHash',
  eth_getTransactionReceipt: 'transactionHash',
  eth_getLogs: '0.blockHash',
  trace_transaction: '0.transactionHash',
  trace_block: '0.blockHash',
  arbtrace_transaction: '0.transactionHash',
}

/** What hands a transaction to the network besides the rows that may be sent again. */
const SENDS = ['eth_sendRawTransactionSync', 'eth_sendRawTransactionConditional']

/** Nodes that have pruned logs answer with an empty list. Null is the usual answer about uncles, as there are none since the merge. */
const LOGS = ['eth_getLogs', 'eth_newFilter', 'erigon_getLogs', 'erigon_getLogsByHash']
const isOfHistory = (name: string, row: Row) =>
  LOGS.includes(name) || (row.needs.includes('history') && !name.startsWith('eth_getUncleBy'))

/** The rule that a catalogue row stands for: only what is not the default. */
function ruleOf(name: string, row: Row): RuleConfig {
  const needs = row.needs.filter(word => !UNSAID.includes(word))
  const end = /^(.*)(s|S)ubscribe$/.exec(name)
  const rule: Record<string, unknown> = {
    enabled: row.enabled === false ? false : undefined,
    cost: row.cost === 1 ? undefined : row.cost,
    tier: row.tier === 'any' ? undefined : row.tier,
    needs: needs.length === 0 ? undefined : needs,
    reads: row.needs.includes('replay')
      ? 'replay'
      : row.needs.includes('archive_if_old')
        ? 'state'
        : isOfHistory(name, row)
          ? 'history'
          : undefined,
    params: row.params,
    block: row.block,
    commitment: row.commitment,
    retry: ['safe', 'dedupe'].includes(row.retry) ? row.retry : undefined,
    hedge: row.hedge ? true : undefined,
    timeout: row.timeout === 'normal' ? undefined : row.timeout,
    // Of subscriptions it says what the key `subscribe` says.
    sticky: row.transport === 'ws' ? undefined : row.sticky,
    subscribe: end === null ? undefined : `${end[1]}${end[2] === 's' ? 'un' : 'Un'}subscribe`,
    nullIsLag: row.null_is_lag,
    answer: ANSWERS[name],
    dialects: row.networks_only?.flatMap(network => DIALECTS[network]!),
    jsonParams: JSON_PARAMS[name],
    tracers: TRACED.includes(name) ? TRACERS : undefined,
    is: HASHES[name],
    sends: SENDS.includes(name) ? true : undefined,
  }
  return Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined))
}

const isUnsubscribe = (name: string) => /unsubscribe$/i.test(name)

for (const family of ['evm', 'solana'] as const) {
  const expected = Object.entries(rows).filter(([name, row]) => row.family === family && !isUnsubscribe(name))

  t.test(`the ${family} rules are the catalogue's rows`, t => {
    t.same(Object.keys(families[family]).sort(), expected.map(([name]) => name).sort())
    for (const [name, row] of expected) {
      const { cache, shows, ...rule } = families[family][name]!
      t.strictSame(rule, ruleOf(name, row), name)
      if (cache === undefined && rule.sends !== true)
        t.equal(shows, undefined, `${name} shows a block that nothing asks for`)
    }
    t.end()
  })

  t.test(`its unsubscribe methods are defined by ${family} subscriptions`, t => {
    const ends = Object.values(families[family]).flatMap(rule => rule.subscribe ?? [])
    const wanted = Object.keys(rows).filter(name => rows[name]?.family === family && isUnsubscribe(name))
    t.same(ends.sort(), wanted.sort())
    t.end()
  })
}

t.test('what the catalogue has the gateway answer, it answers, but for rpc_modules', t => {
  const local = Object.keys(rows).filter(name => rows[name]?.local === true && !isUnsubscribe(name))
  t.same(local.filter(name => name !== 'rpc_modules').sort(), Object.keys(ANSWERS).sort())
  t.match(families.evm['rpc_modules'], { enabled: false, answer: undefined })
  t.end()
})

t.test('costs of the specification', t => {
  const costs = {
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
  for (const [name, cost] of Object.entries(costs)) t.equal(families.evm[name]?.cost ?? 1, cost, name)
  t.end()
})

t.test(
  'tiers of the specification: debug_*, trace_* and txpool_* are paid, what it names besides is not',
  t => {
    for (const [name, { tier }] of Object.entries(families.evm))
      if (/^(debug|trace|txpool)_/.test(name)) t.equal(tier, 'paid', name)
    const named = `eth_call eth_feeHistory eth_getTransactionCount eth_getTransactionByBlockNumberAndIndex
    eth_getTransactionByBlockHashAndIndex eth_getBlockReceipts eth_chainId eth_blockNumber eth_getBlockByNumber
    eth_getBlockByHash eth_getBalance eth_getCode eth_getStorageAt eth_getProof eth_getLogs eth_getTransactionByHash
    eth_getTransactionReceipt eth_subscribe`
    for (const name of named.split(/\s+/)) t.equal(families.evm[name]?.tier ?? 'any', 'any', name)
    t.end()
  },
)

t.test('every method that the specification names exists and is enabled', t => {
  const evm = `debug_traceTransaction debug_traceBlockByHash trace_block trace_call trace_get trace_replayTransaction
    txpool_status txpool_content txpool_contentFrom txpool_inspect eth_subscribe eth_getProof eth_getLogs`
  const solana = `getHealth getVersion getSlot getBlockHeight getEpochInfo getBlock getTransaction getLatestBlockhash
    slotSubscribe logsSubscribe signatureSubscribe`
  for (const name of evm.split(/\s+/))
    t.match(families.evm[name], { enabled: undefined, params: Array }, name)
  for (const name of solana.split(/\s+/))
    t.match(families.solana[name], { enabled: undefined, params: Array }, name)
  t.end()
})
