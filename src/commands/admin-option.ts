import { listenAddress } from '../config/words/units.ts'
import type { ListenAddress } from '../config/types.ts'
import { UsageError } from './command.ts'

/** The address that `--admin HOST:PORT` names; null where it is not given. */
export function adminOption(given: string | boolean | undefined): ListenAddress | null {
  if (typeof given !== 'string') return null
  const address = listenAddress(given)
  if (address === null) throw new UsageError('--admin must be an address such as 127.0.0.1:9464')
  return address
}
