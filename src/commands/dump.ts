/** `tollgate dump`: the compiled snapshot, secrets out. */
import { dump as dumpSnapshot } from '../snapshot/dump.ts'
import { readArguments } from './command.ts'
import type { Command } from './command.ts'
import { loadOrThrow } from './load.ts'

export const dump: Command = {
  usage: `tollgate dump [--config DIR]

Prints what the YAML compiles to: each network with its methods, their cost and tier, the routes able to serve each
one, and why the others are skipped. Upstream URLs and header values are hidden.`,

  async run(args, io) {
    const { config } = readArguments(args, [])
    io.out(JSON.stringify(dumpSnapshot(await loadOrThrow(config, io)), null, 2))
    return 0
  },
}
