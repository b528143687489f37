import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Teardown } from './teardown.ts'

/** An empty directory that lives as long as the test. */
export async function tempDir(t: Teardown): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'tollgate-'))
  t.teardown(() => rm(dir, { recursive: true, force: true }))
  return dir
}
