/** APIs over plain HTTP, such as the beacon API: requests are passed on as they are, so there is little to know of them. */
import type { Family } from '../family.ts'
import { beaconProbe } from './beacon.ts'
import { evm } from '../evm/evm.ts'

export const http: Family = {
  ...evm,
  wire: 'http',
  codes: 'http',
  isPositional: false,
  // Verbs and paths, which the listener has checked.
  methodName: /^/,
  shown: () => ({ heights: [], blockhash: null }),
  sentBefore: () => null,
  transactionHash: () => null,
  takenBy: () => null,
  ...beaconProbe,
}
