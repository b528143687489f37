import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'

const TICKS = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** Microseconds of CPU, user and system, that a process has used so far (Linux). */
export function cpuOf(pid: number): number {
  return sumOf(String(pid), 11)
}

/** The same to the nanosecond, of those threads of the process that live (Linux): for differences of some milliseconds. */
export function cpuOfThreads(pid: number): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map(
    thread => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0],
  )
  return nanoseconds.reduce((sum, each) => sum + Number(each), 0) / 1000
}

/** Microseconds of CPU that this process's children used which have ended (Linux). */
export function cpuOfEnded(): number {
  return sumOf('self', 13)
}

/** Two neighbouring fields of a process's stat, which count ticks. */
function sumOf(pid: string, first: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[first]) + Number(fields[first + 1])) / TICKS) * 1e6
}

/** The middle one. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
