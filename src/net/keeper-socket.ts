/** The Unix socket on which the keeper and the workers of one machine speak. */
import { join } from 'node:path'

/** The name of the socket in the data directory. */
const NAME = 'keeper.sock'
/** Bytes that the path of a Unix socket may have (`sun_path` less its end). */
const LONGEST = process.platform === 'darwin' ? 103 : 107

/** Where it is. */
export function keeperSocket(dataDir: string): string {
  return join(dataDir, NAME)
}

/** Why several workers cannot serve on a data directory, as a sentence for the operator; null when they can. */
export function whyNoSocket(dataDir: string): string | null {
  const bytes = Buffer.byteLength(keeperSocket(dataDir))
  return bytes <= LONGEST
    ? null
    : `with several workers the path of dataDir may have at most ${LONGEST - NAME.length - 1} bytes, as there is a Unix socket in it: ${dataDir} has ${Buffer.byteLength(dataDir)}`
}
