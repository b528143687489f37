/** Joins the dashboard to this process: its files beside the program, its owners and their sessions in accounts.db. */
import { fileURLToPath } from 'node:url'
import { packageFile } from '../config/package-file.ts'
import type { Gateway } from '../call/gateway.ts'
import { loadAssets } from '../http/dashboard/asset.ts'
import { makeDashboard } from '../http/dashboard/dashboard.ts'
import type { Dashboard } from '../http/dashboard/dashboard.ts'
import type { DashboardParts } from '../http/dashboard/sign-in.ts'

const FILES = fileURLToPath(packageFile('dist/dashboard/'))

/** Reads the files; returns how to make the dashboard for a listener. */
export function openDashboard(
  gateway: Gateway,
  { signIns, sessions, accounts }: Pick<DashboardParts, 'signIns' | 'sessions' | 'accounts'>,
): (address: DashboardParts['address']) => Dashboard {
  const assets = loadAssets(FILES)
  return address => makeDashboard(assets, { gateway, signIns, sessions, accounts, address })
}
