/** Rows for codes that nodes of several chains share, beside those of the standard. */
import type { ErrorRow } from '../../snapshot/types.ts'
import { codeRow } from '../errors/row.ts'

/** RPC_IN_WARMUP of Bitcoin Core and its descendants: the node loads its blocks and answers nothing yet. */
export const WARMING_UP: readonly ErrorRow[] = [codeRow('unavailable', [-28])]
