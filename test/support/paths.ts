import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the checkout. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The program under test: what `npm run build` makes, or what TOLLGATE_MAIN names. */
export const mainFile =
  process.env['TOLLGATE_MAIN'] ?? fileURLToPath(new URL('../../dist/main.js', import.meta.url))

const near = relative(process.cwd(), mainFile)

/** What hints call the program that tests run. */
export const program = `node ${near.startsWith('..') ? mainFile : near}`

/** The Node.js that runs the program: the one that runs the tests, or what TOLLGATE_NODE names. */
export const nodeFile = process.env['TOLLGATE_NODE'] ?? process.execPath

/** What the program does, for this process; null where it is another program, or runs under another Node.js. */
export const programFile =
  process.env['TOLLGATE_MAIN'] === undefined && process.env['TOLLGATE_NODE'] === undefined
    ? fileURLToPath(new URL('../../dist/program.js', import.meta.url))
    : null

/** The `methods.yaml` that the repository ships. */
export const shippedMethodsFile = fileURLToPath(new URL('../../methods.yaml', import.meta.url))

/** Where the configuration that the repository ships stands. */
export const shippedDir = dirname(shippedMethodsFile)
