import { setTimeout as pause } from 'node:timers/promises'
import type { Processes } from './processes.ts'

/** For `--import`: a process that was started with it can be asked for the blocks of its event loop. */
export const LOOP_DELAY = new URL('loop-delay.mjs', import.meta.url).href

/** The longest block of a process's event loop since it was last asked, in milliseconds. */
export async function longestBlock(processes: Processes, pid: number): Promise<number> {
  const lines = (): string[] =>
    processes
      .printed(pid)
      .split('\n')
      .filter(line => line.includes('"msg":"loop"'))
  const before = lines().length
  process.kill(pid, 'SIGUSR2')
  while (lines().length === before) await pause(5)
  return (JSON.parse(lines().at(-1)!) as { ms: number }).ms
}
