/** Files that come with the program, such as the shipped YAML. */
import { existsSync } from 'node:fs'

/** The package's own directory: one or more levels up, as this runs from src/ or bundled in dist/. */
const ROOT = findRoot(new URL('..', import.meta.url))

/** Where a file of the package is, by its path in it. */
export function packageFile(path: string): URL {
  return new URL(path, ROOT)
}

function findRoot(directory: URL): URL {
  return existsSync(new URL('package.json', directory)) ? directory : findRoot(new URL('..', directory))
}
