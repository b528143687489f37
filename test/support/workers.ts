import { readdirSync, readFileSync } from 'node:fs'
import type { Gateway } from './gateway.ts'
import { send } from './http.ts'
import type { HttpReply } from './http.ts'
import { until } from './until.ts'

/** The processes of a gateway with several: of its workers as `/status` tells them, and of the others as the system does. */
export interface Crew {
  readonly keeper: number
  readonly workers: readonly number[]
}

/** Who works for a gateway now; waits until `count` workers and a keeper do. */
export async function crewOf(gateway: Gateway, count: number): Promise<Crew> {
  return until(`${count} workers and a keeper`, async () => {
    const status = await gateway.status().catch(() => null)
    const workers: number[] = (status?.workers ?? [])
      .map((worker: any) => Number(worker?.pid))
      .filter(Number.isFinite)
    const [keeper, ...others] = childrenOf(gateway.pid).filter(pid => !workers.includes(pid))
    if (workers.length < count || keeper === undefined || others.length > 0) return undefined
    return { keeper, workers }
  })
}

/** The processes that a process has started and that still run. */
export function childrenOf(pid: number): number[] {
  try {
    // A `ps` takes a hundred times the CPU, and this is asked again and again.
    return readdirSync(`/proc/${pid}/task`)
      .flatMap(thread => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' '))
      .filter(child => child !== '' && isAlive(Number(child)))
      .map(Number)
  } catch {
    return []
  }
}

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

/** Ends a process by force. */
export function kill9(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

/** Asks for a restart: of the primary too, or only of the processes below it. */
export async function restart(gateway: Gateway, what: { readonly primary?: true } = {}): Promise<HttpReply> {
  return send(Number(new URL(gateway.adminUrl).port), {
    ...{ path: '/restart', method: 'POST', body: JSON.stringify(what) },
    headers: { 'content-type': 'application/json' },
  })
}
