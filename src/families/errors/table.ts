/** The tables that ship with the program. The first row that fits decides: texts come before bare codes. */
import type { ErrorRow } from '../../snapshot/types.ts'
import { CREDIT, STANDING, STANDING_CODES } from './billing.ts'
import { EVM_ANSWERS } from '../evm/answers.ts'
import * as missing from '../evm/missing.ts'
import { NODE_RANGES, PROVIDER_RANGES, RANGE_CODE, RANGE_TIMEOUTS } from '../evm/ranges.ts'
import { UNSUPPORTED, UNSUPPORTED_CODE, UNSUPPORTED_EVM_CODE } from '../evm/unsupported.ts'
import { FAULTS, INTERNAL_CODE, OUT_OF_SERVICE, SYNCING } from './health.ts'
import { LIMIT_CODES, LIMIT_EVM_CODE, RATES, SUBSCRIPTION_LIMITS, VENDOR_LIMITS } from './limits.ts'
import { WARMING_UP } from '../jsonrpc/errors.ts'
import * as solana from '../solana/errors.ts'

/** What providers and gateways say in the same words on every family. */
const PROVIDERS: readonly ErrorRow[] = [
  ...CREDIT,
  ...STANDING,
  ...RATES,
  ...VENDOR_LIMITS,
  ...SUBSCRIPTION_LIMITS,
]
const HEALTH: readonly ErrorRow[] = [...SYNCING, ...OUT_OF_SERVICE, ...FAULTS]
const CODES: readonly ErrorRow[] = [...LIMIT_CODES, ...STANDING_CODES]

/** Errors of EVM nodes, and of every family without a table of its own. */
export const EVM_ERRORS: readonly ErrorRow[] = [
  ...EVM_ANSWERS,
  ...NODE_RANGES,
  ...PROVIDER_RANGES,
  ...RANGE_TIMEOUTS,
  ...PROVIDERS,
  ...UNSUPPORTED,
  ...missing.GETH_STATE,
  ...missing.GETH_BLOCKS,
  ...missing.WITHOUT_DATA,
  ...missing.OTHER_CLIENTS,
  ...missing.OTHER_CHAINS,
  ...missing.WITHOUT_ARCHIVE,
  ...missing.TRACED,
  ...missing.BEHIND,
  ...HEALTH,
  ...RANGE_CODE,
  ...LIMIT_EVM_CODE,
  ...CODES,
  ...UNSUPPORTED_CODE,
  ...UNSUPPORTED_EVM_CODE,
  ...missing.MISSING_CODES,
  ...missing.RESOURCE_CODE,
  ...INTERNAL_CODE,
]

/** Outcomes of Solana's preflights that are no answer yet. */
export const SOLANA_OUTCOMES: readonly ErrorRow[] = solana.PREFLIGHT

/** Errors of Solana nodes: providers reuse Agave's codes, so their texts come first. */
export const SOLANA_ERRORS: readonly ErrorRow[] = [
  ...PROVIDERS,
  ...solana.SOLANA_LIMITS,
  ...solana.SOLANA_UNSUPPORTED,
  ...solana.SOLANA_MISSING,
  ...solana.SOLANA_NOT_YET,
  ...solana.SOLANA_UNHEALTHY,
  ...HEALTH,
  ...CODES,
  ...solana.CLEANED_UP,
  ...solana.NOT_YET,
  ...solana.UNHEALTHY,
  ...solana.LACKING,
  ...solana.FAULTY,
]

/** Errors of any other node that speaks JSON-RPC: the codes of the standard and of its transport; texts are for the operator's rows. */
export const JSONRPC_ERRORS: readonly ErrorRow[] = [
  ...WARMING_UP,
  ...LIMIT_EVM_CODE,
  ...CODES,
  ...UNSUPPORTED_CODE,
  ...INTERNAL_CODE,
]
