/** What the Node.js that runs the program is. */
import { execFileSync } from 'node:child_process'
import { nodeFile } from './paths.ts'

export const nodeVersion = execFileSync(nodeFile, ['--version'], { encoding: 'utf8' }).trim().slice(1)

/**
 * Whether it reads the body of a POST that offers an upgrade, as a reason to skip a test: then the request cannot be handed back, and its connection
 * ends behind the answer.
 */
export const readsOffers =
  parseInt(nodeVersion) >= 25 && `Node.js ${nodeVersion} reads the bodies of offers itself`
