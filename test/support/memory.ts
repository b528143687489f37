import { readFile, writeFile } from 'node:fs/promises'

async function field(pid: number, name: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024
}

/** Whether this system tells the memory of a process the way Linux does. */
export const memoryIsVisible = process.platform === 'linux'

/** Resident memory of a process now, in bytes. */
export async function resident(pid: number): Promise<number> {
  return field(pid, 'VmRSS')
}

/** The most resident memory of a process since the last `forgetPeak`, in bytes: the kernel keeps it, nothing is sampled. */
export async function peakResident(pid: number): Promise<number> {
  return field(pid, 'VmHWM')
}

/** Sets the peak back to what is resident now. */
export async function forgetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5')
}
