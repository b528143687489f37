import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the checkout. */
export const root = fileURLToPath(new URL('../../', import.meta.url))

/** The program under test: what `npm run build` makes, or what TOLLGATE_MAIN names. */
export const mainFile =
  process.env['TOLLGATE_MAIN'] ?? fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** The `methods.yaml` that the repository ships. */
export const shippedMethodsFile = fileURLToPath(new URL('../../methods.yaml', import.meta.url))

/** Where the configuration that the repository ships stands. */
export const shippedDir = dirname(shippedMethodsFile)
