import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Access } from './access.ts'
import { createAccess } from './accounts.ts'
import type { ConfigOptions } from './config-files.ts'
import { prepareGateway } from './gateway.ts'
import type { Gateway } from './gateway.ts'
import type { Teardown } from './teardown.ts'

/** Gateways with a data directory each that know the same accounts. */
export interface Fleet {
  readonly gateways: readonly Gateway[]
  /** The same key at each of them, by plan. */
  readonly accesses: Readonly<Record<string, readonly Access[]>>
}

/** Starts so many gateways on one configuration, with an account on each of these plans: made at the first, copied to the others. */
export async function startFleet(
  t: Teardown,
  config: ConfigOptions,
  { count = 2, plans, chain = 'alpha' }: { count?: number; plans: readonly string[]; chain?: string },
): Promise<Fleet> {
  const gateways = await Promise.all(Array.from({ length: count }, () => prepareGateway(t, config)))
  const [first, ...others] = gateways
  await first!.start()
  const made = new Map<string, Access>()
  for (const plan of plans) made.set(plan, await createAccess(first!, plan, chain))
  await first!.stop()
  for (const other of others) {
    await mkdir(join(other.dir, 'data'), { mode: 0o700 })
    for (const file of ['accounts.db', 'master.key'])
      await copyFile(join(first!.dir, 'data', file), join(other.dir, 'data', file))
  }
  await Promise.all(gateways.map(gateway => gateway.start()))
  const accesses = [...made].map(
    ([plan, { slug, key, endpointId, accountId }]) =>
      [plan, gateways.map(gateway => new Access(gateway, slug, key, endpointId, accountId))] as const,
  )
  return { gateways, accesses: Object.fromEntries(accesses) }
}
