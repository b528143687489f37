/** Joins the dashboard to this process: its files beside the program, its owners in accounts.db. */
import { fileURLToPath } from 'node:url'
import { packageFile } from '../config/package-file.ts'
import { grantOf, holderOf } from '../stores/sqlite/accounts/grant.ts'
import type { AccountStore } from '../stores/sqlite/accounts/store.ts'
import type { Gateway } from '../call/gateway.ts'
import { loadAssets } from '../http/dashboard/asset.ts'
import { makeDashboard } from '../http/dashboard/dashboard.ts'
import type { Dashboard } from '../http/dashboard/dashboard.ts'
import type { DashboardParts } from '../http/dashboard/door.ts'

const FILES = fileURLToPath(packageFile('dist/dashboard/'))

/** Reads the files; returns how to make the dashboard for a listener. */
export function openDashboard(
  gateway: Gateway,
  accounts: AccountStore,
): (address: DashboardParts['address']) => Dashboard {
  const assets = loadAssets(FILES)
  const owners = {
    grant: (secret: string) => grantOf(secret, accounts),
    holder: (grant: Parameters<typeof holderOf>[0]) => holderOf(grant, accounts),
  }
  return address => makeDashboard(assets, { gateway, owners, address })
}
