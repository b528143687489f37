import { readFile } from 'node:fs/promises'

const ESTABLISHED = '01'
const CLOSE_WAIT = '08'

/** How many connections to a port of this machine its owner holds open; NaN where the system does not show them. */
export async function connectionsTo(port: number): Promise<number> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const table = await readFile('/proc/net/tcp', 'latin1').catch(() => undefined)
  if (table === undefined) return NaN
  let open = 0
  for (const line of table.split('\n').slice(1)) {
    const [, local, , state] = line.trim().split(/\s+/)
    if (local?.endsWith(suffix) === true && (state === ESTABLISHED || state === CLOSE_WAIT)) open++
  }
  return open
}
