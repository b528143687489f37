/**
 * Tells systemd how far the process is (sd_notify, `Type=notify`). It listens on a datagram socket, which Node.js does not have, so the words
 * go through `systemd-notify`, which comes with it. Without NOTIFY_SOCKET nobody asked, and nothing is told.
 */
import { spawn } from 'node:child_process'

/** Milliseconds that telling may take. */
const PATIENCE = 5_000

/**
 * Milliseconds between `WATCHDOG=1` messages: a third of the unit's `WatchdogSec`, which systemd passes in microseconds
 * (sd_watchdog_enabled(3)); null without one.
 */
export function watchdogInterval(env: Readonly<Record<string, string | undefined>>): number | null {
  const microseconds = Number(env['WATCHDOG_USEC'] ?? 0)
  return microseconds > 0 ? microseconds / 3_000 : null
}

/** Tells the states, such as `READY=1`; resolves to why that failed, or null. */
export async function tellServiceManager(
  env: Readonly<Record<string, string | undefined>>,
  ...states: readonly string[]
): Promise<string | null> {
  const { NOTIFY_SOCKET, PATH } = env
  if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === '') return null
  return new Promise(resolve => {
    const child = spawn('systemd-notify', states, {
      env: { NOTIFY_SOCKET, PATH },
      stdio: 'ignore',
      timeout: PATIENCE,
    })
    child.on('error', ({ message }) => {
      resolve(message)
    })
    child.on('exit', (code, signal) => {
      resolve(code === 0 ? null : `systemd-notify ended with ${signal ?? String(code)}`)
    })
  })
}
