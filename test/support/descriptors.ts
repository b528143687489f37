import { readdir } from 'node:fs/promises'

/** How many files and sockets a process holds open. */
export async function descriptors(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length
}
