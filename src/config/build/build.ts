import { trimSlashes } from '../../net/http-path.ts'
import { withPort } from '../base-url.ts'
import { familyNames } from '../families.ts'
import type { Logo } from '../dashboard/logo.ts'
import type { Config } from '../types.ts'
import { listenAddress } from '../words/units.ts'
import type { RawConfig } from '../raw-config.ts'
import { buildErrors } from './errors.ts'
import { buildGateway, DEFAULTS } from './gateway.ts'
import { buildNetworks } from './networks.ts'
import { buildPlans } from './plans.ts'
import { buildRoutes } from './routes.ts'
import { buildRules } from './rules.ts'

/** What the files of a configuration do not say themselves. */
export interface Beside {
  /** The port of `{port}`, where one is listened on already. */
  readonly port?: number | undefined
  /** The files that methods.yaml extends. */
  readonly extended?: readonly string[] | undefined
  /** The file that gateway.yaml names as the dashboard's logo. */
  readonly logo?: Logo | null
}

/** The configuration that faultless files describe: defaults filled in, units turned into numbers, paths made absolute. */
export function build(
  written: RawConfig,
  dir: string,
  { port, extended = [], logo = null }: Beside = {},
): Config {
  const listen = listenAddress(written.gateway?.listen ?? DEFAULTS.listen)!
  const baseUrl = withPort(written.networks.baseUrl, port ?? listen.port)
  const { families, notification } = written.methods
  return {
    baseUrl: trimSlashes(baseUrl),
    networks: buildNetworks(written.networks.networks),
    routes: buildRoutes(written.routes.routes),
    errors: buildErrors(written.routes.errors),
    notification: { cost: notification?.cost ?? 1 },
    families: Object.fromEntries(
      familyNames().map(name => [name, buildRules(families[name])]),
    ) as Config['families'],
    plans: buildPlans(written.plans.plans, written.gateway?.management?.keys ?? DEFAULTS.managementKeys),
    extended,
    logo: logo?.content ?? null,
    gateway: buildGateway(written.gateway ?? {}, baseUrl, dir, logo?.file ?? null),
  }
}
