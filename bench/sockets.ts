/** Subscriptions: CPU per delivered notification against a bare broadcaster, and memory per idle socket. */
import { readFileSync } from 'node:fs'
import type { WebSocket } from 'ws'
import { HEAD } from './parts/compare.ts'
import { cpuOf, median } from './parts/cpu.ts'
import { ALL_ROUNDS } from './parts/effort.ts'
import { openSocket } from './parts/open-socket.ts'
import { Processes, configFor } from './parts/processes.ts'

const CLIENTS = 2_000
const HEADS = 50

/** Kilobytes of memory that a process holds. */
function residentOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

async function openAll(url: string): Promise<WebSocket[]> {
  const sockets: WebSocket[] = []
  while (sockets.length < CLIENTS)
    sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => openSocket(url)))))
  return sockets
}

/** How heads come: each once all clients have the one before, as nodes send them, or without a pause, as behind a gap. */
const PACES = { 'one at a time': 1, 'all at once': HEADS } as const

/** CPU microseconds of `pid` per notification that reached a client, over `HEADS` heads, so many at once. */
async function fanOut(
  pid: number,
  sockets: readonly WebSocket[],
  node: string,
  atOnce: number,
): Promise<number> {
  let left = 0
  let reached = (): void => undefined
  const count = (): void => {
    left -= 1
    if (left === 0) reached()
  }
  for (const socket of sockets) socket.removeAllListeners('message').on('message', count)
  const before = cpuOf(pid)
  for (let sent = 0; sent < HEADS; sent += atOnce) {
    left = CLIENTS * atOnce
    const all = new Promise<void>(resolve => {
      reached = resolve
    })
    for (let i = 0; i < atOnce; i += 1) await fetch(`http://${node}/push`)
    await all
  }
  return (cpuOf(pid) - before) / (CLIENTS * HEADS)
}

const processes = new Processes()
try {
  const node = await processes.part('socket-node')
  const bare = await processes.part('socket-node')
  const gateway = await processes.gateway(configFor(node.listen))
  const url = `ws://${gateway.listen}/eth/v1/rpc/${await processes.key('bench')}`
  // What the first connections bring into memory is the program's, not the sockets'.
  for (const socket of await Promise.all(Array.from({ length: 50 }, () => openSocket(url))))
    socket.terminate()
  const idle = residentOf(gateway.pid)
  const ours = await openAll(url)
  console.log(
    `memory per idle socket: ${((residentOf(gateway.pid) - idle) / CLIENTS).toFixed(1)} KiB (${CLIENTS} sockets)`,
  )
  await Promise.all(
    ours.map(socket => {
      socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
      return new Promise(resolve => socket.once('message', resolve))
    }),
  )
  const theirs = await openAll(`ws://${bare.listen}/`)
  console.log(HEAD)
  for (const [pace, atOnce] of Object.entries(PACES)) {
    const figures: (readonly [number, number])[] = []
    for (let round = 0; round <= ALL_ROUNDS; round += 1)
      figures.push([
        await fanOut(gateway.pid, ours, node.listen, atOnce),
        await fanOut(bare.pid, theirs, bare.listen, atOnce),
      ])
    const measured = figures.slice(1)
    const [a, b] = [median(measured.map(([mine]) => mine)), median(measured.map(([, other]) => other))]
    const ratio = median(measured.map(([mine, other]) => mine / other))
    console.log(
      `| notification, heads ${pace} | ${a.toFixed(1)} µs | bare broadcast ${b.toFixed(1)} µs | ${ratio.toFixed(2)} |`,
    )
  }
  for (const socket of [...ours, ...theirs]) socket.terminate()
} finally {
  await processes.stop()
}
