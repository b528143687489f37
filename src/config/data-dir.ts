/** Finds the data directory of a configuration that may not be valid: who runs on it can still be asked. */
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { evaluate } from './evaluate.ts'
import { parseText } from './parse.ts'
import { lookupIn } from './read.ts'

/** What gateway.yaml says of it, as an absolute path; null when the file cannot be read that far. */
export async function findDataDir(
  dir: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const text = await readFile(join(dir, 'gateway.yaml'), 'utf8').catch((error: unknown) =>
    (error as NodeJS.ErrnoException).code === 'ENOENT' ? '' : null,
  )
  const source = text === null ? null : parseText('gateway.yaml', text)
  if (source === null || !('root' in source)) return null
  const { value } = evaluate(source, lookupIn(dir, env))
  const { dataDir = './data' } = value as { readonly dataDir?: unknown }
  return typeof dataDir === 'string' && dataDir !== '' ? resolve(dir, dataDir) : null
}
