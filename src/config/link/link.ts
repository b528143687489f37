import type { Finding } from '../finding.ts'
import type { Partly, RawConfig } from '../raw-config.ts'
import { checkSending } from '../sending/check.ts'
import { checkTracing } from '../observing/check.ts'
import { checkAcknowledged } from './acknowledge.ts'
import { checkAlike } from './alike.ts'
import { checkErrors } from './errors.ts'
import { checkGateway } from './gateway.ts'
import { checkNetworks } from './networks.ts'
import { checkPlans } from './plans.ts'
import { checkRoutes } from './routes.ts'
import { rowsOf } from './rows.ts'
import { checkRules } from './rules.ts'
import { checkTiers } from './tiers.ts'

/** What the files get wrong about each other. A file or value that is not there is not held against the others. */
export function link(written: Partly<RawConfig>): readonly Finding[] {
  const rows = rowsOf(written)
  return [
    ...checkNetworks(written, rows),
    ...checkRoutes(written, rows),
    ...checkSending(written),
    ...checkErrors(written, rows),
    ...checkRules(written, rows),
    ...checkAlike(written, rows),
    ...checkTiers(written, rows),
    ...checkPlans(written, rows),
    ...checkGateway(written),
    ...checkTracing(written),
    ...checkAcknowledged(written, rows),
  ]
}
