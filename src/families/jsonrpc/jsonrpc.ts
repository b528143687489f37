/** Any chain whose nodes speak JSON-RPC, 1.0 or 2.0: what is to be known of it stands in the YAML. */
import { JSONRPC_ERRORS } from '../errors/table.ts'
import { evm } from '../evm/evm.ts'
import type { Family } from '../family.ts'
import { jsonrpcProbe } from './probe.ts'

export const jsonrpc: Family = {
  ...evm,
  anyVersion: true,
  // Nodes of JSON-RPC 1.0 answer a call with an error under 500, and others that have nothing to do with the node's health.
  errors: { outcomes: [], isOutcome: () => false, table: JSONRPC_ERRORS, statuses: [500] },
  isPositional: false,
  methodName: /^[A-Za-z0-9_.:-]+$/,
  shown: () => ({ heights: [], blockhash: null }),
  sentBefore: () => null,
  transactionHash: () => null,
  takenBy: () => null,
  ...jsonrpcProbe,
}
