/** The families by the name that networks.yaml has. */
import type { Network } from '../snapshot/types.ts'
import { evm } from './evm/evm.ts'
import type { Family } from './family.ts'
import { http } from './http/http.ts'
import { solana } from './solana/solana.ts'

const FAMILIES: Readonly<Record<Network['family'], Family>> = { evm, solana, http }

/** What is known of a network's kind of chain. */
export function familyOf({ family }: Pick<Network, 'family'>): Family {
  return FAMILIES[family]
}
