/** Listeners of one configuration that would take each other's port, once names are looked up: the YAML alone does not say whose address a name is. */
import { lookup } from 'node:dns/promises'
import { sharePort } from '../config/share-port.ts'
import type { ListenAddress } from '../config/types.ts'

/** A listener by its key in gateway.yaml. */
interface Listener<Name> {
  readonly name: Name
  readonly address: ListenAddress
}

/** Why the later of two listeners cannot be had beside the earlier, by its name. */
export async function sharedPorts<Name extends string>(
  listeners: readonly Listener<Name>[],
): Promise<ReadonlyMap<Name, string>> {
  const found = await Promise.all(listeners.map(({ address }) => lookedUp(address)))
  const faults = new Map<Name, string>()
  listeners.forEach(({ name, address }, index) => {
    const earlier = listeners.slice(0, index).find((_, at) => sharePort(found[at]!, found[index]!))
    if (earlier === undefined) return
    const [one, other] = [textOf(earlier.address), textOf(address)]
    faults.set(
      name,
      `${earlier.name} (${one}) and ${name} (${other}) cannot listen on the same port; give each a port of its own`,
    )
  })
  return faults
}

/** The address that listening takes; a name that nobody knows is told where it is tried. */
async function lookedUp({ host, port }: ListenAddress): Promise<ListenAddress> {
  try {
    return { host: (await lookup(host)).address, port }
  } catch {
    return { host, port }
  }
}

function textOf({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
