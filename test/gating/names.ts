import { shippedMethods, type ShippedRule } from '../support/shipped-methods.ts'

/** A method name, and what a caller who may not use it is told. */
export interface Gated {
  readonly name: string
  readonly reason: 'method_not_found' | 'plan_required'
}

interface Rule extends ShippedRule {
  readonly tier?: string
  readonly enabled?: boolean
  readonly subscribe?: string
}

/** The shipped rules of a family, each with the method that ends it where it is a subscription. */
async function rulesOf(family: string): Promise<ReadonlyMap<string, Rule>> {
  const rules = new Map<string, Rule>()
  for (const [name, rule] of Object.entries((await shippedMethods()).families[family] ?? {}) as [
    string,
    Rule,
  ][]) {
    rules.set(name, rule)
    if (rule.subscribe !== undefined) rules.set(rule.subscribe, rule)
  }
  return rules
}

const isOff = ({ enabled, dialects }: Rule) => enabled === false || dialects !== undefined
const notFound = (names: Iterable<string>): Gated[] =>
  [...names].map(name => ({ name, reason: 'method_not_found' }))

/** Every shipped name that the free plan may not call on a network of its own, and every name of the other family. */
export async function shippedGates(family: 'evm' | 'solana'): Promise<readonly Gated[]> {
  const own = await rulesOf(family)
  const other = await rulesOf(family === 'evm' ? 'solana' : 'evm')
  const paid = [...own].filter(([, rule]) => rule.tier === 'paid' && !isOff(rule))
  return [
    ...paid.map(([name]): Gated => ({ name, reason: 'plan_required' })),
    ...notFound([...own].filter(([, rule]) => isOff(rule)).map(([name]) => name)),
    ...notFound([...other.keys()].filter(name => !own.has(name))),
  ]
}

/** What signs, reaches into the node or belongs to test nodes: nobody may have it. */
export const deniedNames =
  `eth_sign eth_signTransaction eth_signTypedData eth_signTypedData_v4 eth_sendTransaction
  eth_resend eth_getWork eth_submitWork eth_submitHashrate eth_compileSolidity personal_sign personal_unlockAccount
  personal_listAccounts admin_peers admin_addPeer admin_nodeInfo admin_startHTTP engine_newPayloadV3
  engine_forkchoiceUpdatedV3 engine_exchangeCapabilities miner_start miner_setEtherbase clique_propose les_x testing_x
  parity_setMode hive_x lotus_x shh_version bzz_x db_getString flashbots_x dev_addBalance anvil_setBalance anvil_reset
  hardhat_reset hardhat_impersonateAccount evm_mine evm_revert debug_setHead debug_verbosity debug_vmodule debug_stacks
  debug_dbGet debug_chaindbProperty debug_traceChain debug_traceBlockFromFile debug_standardTraceBlockToFile
  debug_writeMemProfile debug_cpuProfile debug_startGoTrace debug_freeOSMemory debug_setGCPercent debug_dumpBlock`
    .trim()
    .split(/\s+/)

/** Names of nothing, and names that mean something to JavaScript, to YAML rows, to patterns and to batches of servers. */
export const unknownNames =
  `eth eth_ _call call eth__call eth_nope net_ web3_ rpc_ rpc.discover system.listMethods
  __proto__ constructor prototype toString valueOf hasOwnProperty __defineGetter__ then toJSON length 0 -1 null true *
  eth_* debug_* ** ? notification other families x-shapes service_ service_* service_rotateKeys service_admin
  service_listEndpoints2 public dashboard metrics ../eth_call ./eth_call eth_call/../debug_traceCall eth_call,debug_traceCall
  eth_call;debug_traceCall eth_call&debug_traceCall {"method":"eth_call"} ["eth_call"] %s %n $eth_call`
    .trim()
    .split(/\s+/)

const insertions = [
  '\0',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\u00a0',
  '\u00ad',
  '\u034f',
  '\u200b',
  '\u200d',
  '\u2060',
  '\ufeff',
  '\u202e',
]
const lookalikes: Readonly<Record<string, string>> = {
  a: 'а',
  c: 'с',
  e: 'е',
  o: 'о',
  p: 'р',
  s: 'ſ',
  t: 'ｔ',
  k: 'K',
  i: 'ı',
  l: 'ⅼ',
  _: '＿',
  d: 'ԁ',
  g: 'ɡ',
  r: 'г',
  n: 'ո',
  B: 'В',
  T: 'Т',
  C: 'С',
}

/** Names that are not `name`, but could be taken for it by someone who trims, folds, decodes or cuts. */
export function variantsOf(name: string): string[] {
  const half = name.indexOf('_') + 1
  const letters = Array.from(name)
  return [
    name.toUpperCase(),
    name.toLowerCase(),
    name[0]!.toUpperCase() + name.slice(1),
    ...letters.map(
      (c, i) =>
        name.slice(0, i) + (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()) + name.slice(i + 1),
    ),
    ...letters.map((c, i) => name.slice(0, i) + (lookalikes[c] ?? '') + name.slice(i + 1)),
    ...insertions.flatMap(gap => [gap + name, name + gap, name.slice(0, half) + gap + name.slice(half)]),
    ...[
      'x',
      '1',
      '_',
      '.',
      '-',
      '/',
      '?x=1',
      '#',
      ';',
      ',',
      '\\',
      '"',
      "'",
      '()',
      '*',
      '\u0301',
      '\ud800',
      '😀',
    ].map(end => name + end),
    ...['x', '1', '_', '.', '-', '/', '*', '😀', 'eth_', 'v1/', 'rpc.'].map(begin => begin + name),
    ...['.', '-', '/', ':', ' ', '%5F', '__', ''].map(gap => name.replace('_', gap)),
    name.slice(0, -1),
    name.slice(1),
    name + name,
    `${name} ${name}`,
    encodeURIComponent(name).replace('_', '%5f'),
    Buffer.from(name).toString('base64'),
    letters.toReversed().join(''),
  ].filter((variant, i, all) => variant !== name && all.indexOf(variant) === i)
}
