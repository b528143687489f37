/** The bystander's process: calls at a fixed rate over connections of its own, and writes down what came of each call. */
import { once } from 'node:events'
import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { send } from '../../support/http.ts'
import { LoopWatch, sharedNow } from './clock.ts'
import { answerAs } from './helper.ts'
import { questions, type Question } from './questions.ts'
import type { BystanderReport, Life, Sample } from './bystander.ts'

const DEADLINE_MS = 40_000

const watch = new LoopWatch()
const agent = new Agent({ keepAlive: true, maxSockets: 256 })
const samples: Sample[] = []
const metered: Record<string, number> = {}
const heads: number[] = []
let closed: number | null = null
let inFlight = 0
let phase = ''
const rhythm = { runs: false }
let lastHead = NaN
let socket: WebSocket | undefined

async function ask(life: Life, question: Question): Promise<void> {
  const { method, kind, path } = question
  const at = sharedNow()
  const sample = { phase, kind, method, at, status: 0, ok: false, reason: '', route: '', text: '' }
  inFlight++
  try {
    const { status, text } = await send(life.port, { path, body: question.body, agent })
    sample.status = status
    const reply = JSON.parse(text)
    const reason: string | undefined = reply.error?.data?.reason
    if (reason !== undefined) sample.reason = reason
    else metered[method] = (metered[method] ?? 0) + 1
    const route = question.routeOf(reply)
    sample.ok = route !== undefined
    sample.route = route ?? ''
    if (!sample.ok) sample.text = text.slice(0, 300)
  } catch (error) {
    sample.text = String(error)
  }
  inFlight--
  const took = sharedNow() - at
  samples.push({ ...sample, took })
}

const isRunning = () => rhythm.runs

async function live(life: Life): Promise<void> {
  const begin = sharedNow()
  for (let n = 0; isRunning(); n++) {
    const due = begin + n * (1000 / life.perSecond)
    await pause(Math.max(0, due - sharedNow()))
    // `report` may have come meanwhile.
    if (!isRunning()) return
    const recentBlock = Number.isNaN(lastHead) ? life.recentBlock : `0x${(lastHead - 2).toString(16)}`
    void ask(life, questions[n % questions.length]!({ ...life, recentBlock }, n))
  }
}

async function subscribe({ port, path }: Life): Promise<void> {
  socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { perMessageDeflate: false })
  socket.on('error', () => undefined)
  socket.on('close', code => (closed = code))
  socket.on('message', data => {
    const frame = JSON.parse((data as Buffer).toString())
    if (frame.method === undefined) return
    metered[frame.method] = (metered[frame.method] ?? 0) + 1
    // What a lying node says goes through as it is, and may be anything.
    const number: unknown = frame.params.result?.number
    if (typeof number === 'string') heads.push((lastHead = Number(number)))
  })
  await once(socket, 'open')
  socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
  const [data] = (await once(socket, 'message')) as [Buffer]
  const { result } = JSON.parse(data.toString())
  if (typeof result !== 'string') throw new Error(`no subscription: ${data.toString()}`)
  metered['eth_subscribe'] = (metered['eth_subscribe'] ?? 0) + 1
}

answerAs({
  start: async (life: Life) => {
    rhythm.runs = true
    if (life.heads) await subscribe(life)
    void live(life)
  },
  phase: (name: string) => {
    phase = name
  },
  /** Stops calling until the next `start`, awaits what is under way, and tells all since the last report. */
  report: async ({ lastHead: wanted }: { lastHead: number | null }): Promise<BystanderReport> => {
    rhythm.runs = false
    const end = sharedNow() + DEADLINE_MS
    while (inFlight > 0 && sharedNow() < end) await pause(5)
    const headsEnd = sharedNow() + 10_000
    while (wanted !== null && closed === null && lastHead !== wanted && sharedNow() < headsEnd) await pause(5)
    socket?.close()
    if (socket !== undefined && closed === null) await once(socket, 'close')
    socket = undefined
    agent.destroy()
    const report = { samples: samples.splice(0), unanswered: inFlight, stalls: watch.take() }
    const rest = { metered: { ...metered }, heads: heads.splice(0), closed: closed === 1005 ? null : closed }
    closed = null
    return { ...report, ...rest }
  },
})
