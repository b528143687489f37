import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Teardown } from './teardown.ts'

/** An empty directory that lives as long as the test. */
export async function tempDir(t: Teardown): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'tollgate-'))
  // A process that was killed may leave others, which write until they notice.
  t.teardown(() => rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  return dir
}
