import { failures, fault } from '../support/faults.ts'
import { result, type Handler } from '../support/node-replies.ts'
import type { Reason } from '../support/refusals.ts'

/** `good`: the other route's answer; `own`: the faulty route's; else the refusals that may be told. */
export type End = 'good' | 'own' | readonly Reason[]

/** One thing that is wrong with the route that is asked first. */
export interface Fault {
  readonly handler: Handler
  /** How a call of each class ends; a class that is left out does not meet this fault. */
  readonly ends: { readonly safe: End; readonly dedupe?: End; readonly never: End }
  /** How often the faulty node may be asked for one call that may be repeated. */
  readonly asked?: readonly [least: number, most: number]
  /** The fault is silence: the route's own timeout ends it. */
  readonly silent?: true
  /** The next call keeps away from the route. */
  readonly coolsDown?: true
  /** The block that the call reads; default `latest`. */
  readonly block?: string
  readonly chainId?: number
  /** Blocks behind the other route. */
  readonly behind?: number
  /** Nothing listens where the route leads. */
  readonly down?: true
  /** Of which family the network is; default evm. */
  readonly family?: 'solana'
}

/** The chain of the EVM networks, and the newest block of the route that is well. */
export const chainId = 1001
export const head = 0x10_000
const broken: readonly Reason[] = ['upstream_error']
const atLimit: readonly Reason[] = ['upstream_error', 'no_route', 'overloaded']

/** A fault that another route makes good, unless the call may not be repeated. */
function elsewhere(name: string, never: End, more: Partial<Fault> = {}): Fault {
  return { handler: failures[name]!, ends: { safe: 'good', dedupe: 'good', never }, ...more }
}

/** A connection that breaks may have been a stale one: the same route may be asked a second time. */
const twice = { asked: [1, 2] } as const
const silent = { silent: true } as const
const coolsDown = { coolsDown: true } as const

const evmFaults: Readonly<Record<string, Fault>> = {
  refused: { ...elsewhere('empty', 'good'), down: true, asked: [0, 0] },
  'reset-before': elsewhere('reset-before', broken, twice),
  'reset-mid': elsewhere('reset-mid', broken, twice),
  'cut-close': elsewhere('cut-close', broken, twice),
  hang: elsewhere('hang', ['upstream_timeout'], silent),
  drip: elsewhere('drip', ['upstream_timeout'], silent),
  page: elsewhere('page', broken),
  empty: elsewhere('empty', broken),
  'http-401': elsewhere('http-401', ['upstream_error', 'no_route']),
  'http-403': elsewhere('http-403', ['upstream_error', 'no_route']),
  'http-408': elsewhere('http-408', ['upstream_error', 'upstream_timeout']),
  'http-429': elsewhere('http-429', atLimit, coolsDown),
  'http-429-later': elsewhere('http-429-later', atLimit, coolsDown),
  'http-500': elsewhere('http-500', broken),
  'http-502': elsewhere('http-502', broken),
  'http-503': elsewhere('http-503', broken),
  'limit-32005': elsewhere('limit-32005', atLimit, coolsDown),
  'limit-429': elsewhere('limit-429', atLimit, coolsDown),
  'wrong-id': elsewhere('wrong-id', broken),
  unsupported: {
    handler: fault(-32601, 'the method does not exist'),
    ends: { safe: 'good', dedupe: 'good', never: 'own' },
  },
  internal: {
    handler: fault(-32603, 'internal error'),
    // The node may have taken a transaction before it failed, and the next one would be told that it is known.
    ends: { safe: 'good', dedupe: 'own', never: 'own' },
  },
  reverted: {
    handler: fault(3, 'execution reverted'),
    ends: { safe: 'own', dedupe: 'own', never: 'own' },
  },
  'http-400': {
    handler: fault(-32000, 'insufficient funds', 400),
    ends: { safe: 'own', dedupe: 'own', never: 'own' },
  },
  'wrong-chain': {
    handler: result('"of another chain"'),
    ends: { safe: 'good', dedupe: 'good', never: 'good' },
    asked: [0, 0],
    chainId: 1002,
  },
  lagging: {
    handler: result('"old"'),
    ends: { safe: 'good', never: 'good' },
    asked: [0, 0],
    behind: 1000,
  },
  'lagging-old-read': {
    handler: result('"as good as any"'),
    ends: { safe: 'own', never: 'own' },
    block: `0x${(head - 1050).toString(16)}`,
    behind: 1000,
  },
  'pruned-text': {
    handler: fault(-32000, 'missing trie node 0123 (path ) state 0x0123 is not available'),
    ends: { safe: 'good', never: 'own' },
    block: `0x${'12'.repeat(32)}`,
  },
  'pruned-wrong': {
    handler: result('"0x0"'),
    ends: { safe: 'good', never: 'good' },
    asked: [0, 0],
    block: '0x1',
  },
  'null-behind': { handler: result('null'), ends: { safe: 'good', never: 'own' }, behind: 1 },
  'null-level': { handler: result('null'), ends: { safe: 'own', never: 'own' } },
}

/** What Agave says where another node may say more: its code, and its words. */
const passing: readonly (readonly [code: number, says: string])[] = [
  [-32001, 'Block 5 cleaned up, does not exist on node. First available block: 9'],
  [-32002, 'Transaction simulation failed: Blockhash not found'],
  [-32004, 'Block not available for slot 5'],
  [-32005, 'Node is behind by 42 slots'],
  [-32005, 'Node is unhealthy'],
  [-32008, 'No snapshot'],
  [-32009, 'Slot 5 was skipped, or missing in long-term storage'],
  [-32010, 'x excluded from account secondary indexes; this RPC method unavailable for key'],
  [-32011, 'Transaction history is not available from this node'],
  [-32012, 'Error scanning accounts'],
  [-32014, 'Block status not yet available for slot 5'],
  [-32016, 'Minimum context slot has not been reached'],
  [-32019, 'Failed to query long-term storage; please try again'],
]
/** Of a node that is not well the client hears nothing; one that failed at the call may have acted on it. */
function endsOf(code: number): Fault['ends'] {
  const never = code === -32005 ? (['no_route'] as const) : 'own'
  return { safe: 'good', dedupe: code === -32012 || code === -32019 ? 'own' : 'good', never }
}

/** What any node would say. */
const final: readonly (readonly [code: number, says: string])[] = [
  [-32002, 'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1'],
  [-32003, 'Transaction signature verification failure'],
  [-32006, 'Transaction precompile verification failure InvalidAccountIndex'],
  [-32007, 'Slot 5 was skipped, or missing due to ledger jump to recent snapshot'],
  [-32013, 'Transaction signature length mismatch'],
  [-32015, 'Transaction version (0) is not supported by the requesting client'],
  [-32017, 'Epoch rewards period still active at slot 5'],
  [-32018, 'Rewards cannot be found because slot 5 is not the epoch boundary'],
  [-32602, 'Invalid param: WrongSize'],
]
/** What is particular to nodes of an EVM network, or differs on Solana in nothing that is worth a case. */
const evmOnly =
  /^(wrong-chain|pruned-.*|lagging-.*|null-level|reverted|cut-close|drip|limit-429|http-(400|403|408|429-later|50[23]))$/

/** On Solana: what ails nodes of any family, and what Agave says. */
const solana = { family: 'solana' } as const
/** All of them, by a name that makes a slug. */
export const faults: Readonly<Record<string, Fault>> = {
  ...evmFaults,
  ...Object.fromEntries(
    Object.entries(evmFaults)
      .filter(([name]) => !evmOnly.test(name))
      // A node a slot or two behind is no news there.
      .map(([name, one]) => [
        `sol-${name}`,
        { ...one, ...solana, ...(one.behind === 1 ? { behind: 20 } : {}) },
      ]),
  ),
  ...Object.fromEntries(
    passing.map(([code, says], index) => [
      `sol-passing-${index}${code}`,
      { handler: fault(code, says), ends: endsOf(code), ...solana },
    ]),
  ),
  ...Object.fromEntries(
    final.map(([code, says]) => [
      `sol-final${code}`,
      { handler: fault(code, says), ends: { safe: 'own', never: 'own' }, ...solana },
    ]),
  ),
}
