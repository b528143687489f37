import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { send } from '../../support/http.ts'
import type { Target } from '../harness/stage.ts'
import { call, drop, open, post } from './raw.ts'

/** Makes calls one after the other on a path, and gives the parsed replies. */
export async function inTurn(
  { port, paths }: Target,
  options: { path: keyof Target['paths']; calls: readonly [string, unknown][]; everyMs?: number },
): Promise<unknown[]> {
  const replies: unknown[] = []
  for (const [method, params] of options.calls) {
    const { text } = await send(port, { path: paths[options.path], body: call(method, params) })
    replies.push(JSON.parse(text))
    await pause(options.everyMs ?? 0)
  }
  return replies
}

/** Makes calls all at once, and gives up on them after a time; gives how many were answered. */
export async function atOnce(
  { port, paths }: Target,
  options: { path: keyof Target['paths']; calls: readonly [string, unknown][]; ms: number },
): Promise<object> {
  const agent = new Agent({ keepAlive: true })
  let answered = 0
  for (const [method, params] of options.calls)
    send(port, { path: paths[options.path], body: call(method, params), agent }).then(
      () => answered++,
      () => undefined,
    )
  await pause(options.ms)
  agent.destroy()
  return { answered }
}

/** Sends the same body again and again on a few connections, for a time; counts the reasons of refusals. */
export async function flood(
  { port, paths }: Target,
  options: { path: keyof Target['paths']; body: string; ms: number; connections?: number },
): Promise<Record<string, number>> {
  const agent = new Agent({ keepAlive: true })
  const end = performance.now() + options.ms
  const seen: Record<string, number> = {}
  const one = async () => {
    while (performance.now() < end) {
      const reply = await send(port, { path: paths[options.path], body: options.body, agent })
      const said = reply.text.match(/"reason":"\w+"|"result":/g) ?? ['none']
      for (const word of said) seen[word] = (seen[word] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: options.connections ?? 4 }, one))
  agent.destroy()
  return seen
}

/** Sends calls that differ, pipelined on connections from another address, and gives up on them after a time. */
export async function pipelined(
  { port, paths }: Target,
  options: {
    path: keyof Target['paths']
    method: string
    params: readonly unknown[]
    connections: number
    each: number
    ms: number
  },
): Promise<object> {
  const { path, method, params, connections, each, ms } = options
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port, '127.0.0.9')))
  for (const socket of sockets) {
    socket.pause()
    socket.write(Array.from({ length: each }, (_, i) => post(paths[path], call(method, params, i))).join(''))
  }
  await pause(ms)
  const held = sockets.filter(({ destroyed }) => !destroyed).length
  await drop(sockets)
  return { held }
}

/** Calls from many addresses at once, each on a connection of its own, and gives up on them after a time. */
export async function fromMany(
  { port, paths }: Target,
  options: { method: string; params: readonly unknown[]; addresses: number; each: number; ms: number },
): Promise<object> {
  const { method, params, addresses, each, ms } = options
  const sockets = await Promise.all(
    Array.from({ length: addresses }, (_, i) => open(port, `127.0.${10 + (i >> 7)}.${1 + (i & 127)}`)),
  )
  for (const socket of sockets)
    socket.write(Array.from({ length: each }, (_, i) => post(paths.public, call(method, params, i))).join(''))
  await pause(ms)
  await drop(sockets)
  return { held: sockets.filter(({ destroyed }) => !destroyed).length }
}

/** Sends the same body on a few connections, always as many requests as wait for an answer; gives how many were answered. */
export async function pipelinedFlood(
  { port, paths }: Target,
  options: { path: keyof Target['paths']; body: string; connections: number; each: number; ms: number },
): Promise<object> {
  const request = post(paths[options.path], options.body)
  const sockets = await Promise.all(Array.from({ length: options.connections }, () => open(port)))
  let answered = 0
  for (const socket of sockets) {
    socket.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf('HTTP/1.1 '); at !== -1; at = chunk.indexOf('HTTP/1.1 ', at + 1)) {
        answered++
        socket.write(request)
      }
    })
    socket.write(request.repeat(options.each))
  }
  await pause(options.ms)
  await drop(sockets)
  return { answered }
}
