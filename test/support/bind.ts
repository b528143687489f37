import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** Whether processes can be given cores of their own here. */
export const canBind = process.platform === 'linux' && availableParallelism() > 1

/** Binds a process and all of its threads to a core, where there is more than one: a measured process has one that its load does not use. */
export function bind(pid: number, core: number): void {
  if (canBind) execFileSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' })
}
