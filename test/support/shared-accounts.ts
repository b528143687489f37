/** Accounts that several gateways share, as a test makes them on one and tries them on another. */
import { Access } from './access.ts'
import { AdminApi } from './admin-api.ts'
import { run, runJson } from './cli.ts'
import { FLEET_ENV } from './fleet.ts'
import type { Gateway } from './gateway.ts'
import { until } from './until.ts'

/** Milliseconds until a change has come to another machine that is busy. */
export const SOON = 10_000

/** An account with one endpoint, made by the command line on a machine. */
export async function makeAccess(gateway: Gateway, plan: string): Promise<Access> {
  const words = ['account', 'create', 'acme', '--plan', plan, '--chain', 'alpha']
  const { accountId, endpoint } = await runJson(gateway.dir, words, FLEET_ENV)
  return new Access(gateway, 'alpha', endpoint.apiKey, endpoint.endpointId, accountId)
}

/** The admin API of a machine. */
export async function apiOf(gateway: Gateway): Promise<AdminApi> {
  const words = ['token', 'create', '--scope', 'accounts:write,accounts:read', '--config', gateway.dir]
  const made = await run([...words, '--json'], FLEET_ENV)
  return new AdminApi(gateway, JSON.parse(made.stdout).token as string)
}

/** The same key on another machine. */
export function at(access: Access, gateway: Gateway): Access {
  return new Access(gateway, access.slug, access.key, access.endpointId, access.accountId)
}

/** Why a call is refused, or `served`. */
export async function reasonOf(access: Access, method = 'eth_gasPrice'): Promise<string> {
  return String((await access.call(method)).error?.data?.reason ?? 'served')
}

/** Resolves when calls are refused for this reason, or `served`. */
export async function becomes(access: Access, reason: string, method?: string): Promise<void> {
  await until(`it is ${reason}`, async () => (await reasonOf(access, method)) === reason, SOON)
}
