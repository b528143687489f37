/** Cores: the load and its node run on the first, whatever is measured on the second. */
import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

const LOAD = 0
const MEASURED = 1

/** With one core, or without taskset, processes stay where the system puts them. */
const canPin = availableParallelism() > 1 && process.platform === 'linux'

/** Binds this process, and what it starts from then on, to the core of the load. */
export function pinLoad(): void {
  bind(process.pid, LOAD)
}

/** Binds a process and all of its threads to the core of what is measured. */
export function pinMeasured(pid: number): void {
  bind(pid, MEASURED)
}

function bind(pid: number, core: number): void {
  if (canPin) execFileSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' })
}
