import { readdirSync, readFileSync } from 'node:fs'
import { fewMethods } from './few-methods.ts'
import { startGateway } from './gateway.ts'
import type { Gateway } from './gateway.ts'
import { send } from './http.ts'
import type { HttpReply } from './http.ts'
import { result } from './node-replies.ts'
import { startNode } from './scripted-node.ts'
import type { ScriptedNode } from './scripted-node.ts'
import type { Teardown } from './teardown.ts'
import { until } from './until.ts'

/** A node, and a gateway of two workers in front of it that serves it as `alpha`; it ends soon when it is told to. */
export async function startTwoWorkers(
  t: Teardown,
  balance: 'accept' | 'roundRobin' = 'accept',
): Promise<{ readonly node: ScriptedNode; readonly gateway: Gateway }> {
  const node = (await startNode(t, { chainId: 1001 })).on('eth_gasPrice', result('"0x1"'))
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    methods: fewMethods,
    gateway: { workers: { count: 2, balance }, timeouts: { drain: '5s', drainIdle: '200ms' } },
  })
  return { node, gateway }
}

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
    path: '/restart',
    method: 'POST',
    body: JSON.stringify(what),
    headers: { 'content-type': 'application/json' },
  })
}
