/** Where a file of the package is, by its path in it: the same from src/ as from dist/. */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url)
}
