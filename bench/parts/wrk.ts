import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child, cleanEnvironment } from '../../test/support/child.ts'

/** What is sent to one server, and what has to come back. */
export interface Order {
  /** `http://host:port`. */
  readonly origin: string
  /** The paths that posts go to, in turn. */
  readonly paths: readonly string[]
  /** One line each, in turn. */
  readonly bodies: readonly string[]
  readonly posts: number
  readonly connections: number
  /** Most seconds that it may take. */
  readonly seconds: number
  /** Every reply is to hold an error; otherwise none may. */
  readonly refused: boolean
  /** The number of the first post, in the place of `{n}` in a body. */
  readonly numbered: number
  /** Most posts a second. */
  readonly perSecond: number
}

/** Whether wrk is to be used: it takes so little of the machine that the server is always the one who is waited for. `LOAD=node` does without. */
export const wrkIsHere = ((): boolean => {
  if (process.env['LOAD'] === 'node') return false
  try {
    // It has no call that succeeds without a server.
    return execFileSync('sh', ['-c', 'command -v wrk']).length > 0
  } catch {
    return false
  }
})()

/** What came of an order. */
export interface Sent {
  /** Posts that were answered. */
  readonly answers: number
  /** Milliseconds that a post took: half of them at most, and 99 of a hundred. */
  readonly p50: number
  readonly p99: number
}

/** Has wrk send posts from one thread; rejects on a reply that is not as expected. */
export async function wrk(order: Order): Promise<Sent> {
  const { origin, paths, bodies, connections, seconds } = order
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-wrk-'))
  try {
    const [script, list] = [join(dir, 'posts.lua'), join(dir, 'posts')]
    const count = Math.max(paths.length, bodies.length)
    const lines = Array.from({ length: count }, (_, n) => [
      paths[n % paths.length],
      bodies[n % bodies.length],
    ])
    writeFileSync(list, lines.flat().join('\n'))
    writeFileSync(script, scriptFor(order, list))
    const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', script]
    const child = new Child('wrk', [...args, origin + paths[0]!], cleanEnvironment())
    await child.output('wrk to be over', ended, seconds * 1000 + PATIENCE)
    // It would go on sleeping for what is left of its time.
    const timer = setInterval(() => {
      child.signal('SIGINT')
    }, 20)
    await child.exited
    clearInterval(timer)
    return answersIn(child, origin + paths[0]!)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Milliseconds that wrk may take besides its load. */
const PATIENCE = 30_000

function ended(child: Child): true | undefined {
  return child.stdout.includes('over') || child.gone ? true : undefined
}

function answersIn({ stdout, stderr }: Child, url: string): Sent {
  const pattern = /answers (\d+) broken (\d+) p50 (\d+) p99 (\d+) wrong <(.*)>/s
  const [, answers, broken, p50, p99, wrong] = pattern.exec(stdout) ?? []
  if (answers === undefined) throw new Error(`wrk to ${url} told nothing: ${stdout}${stderr}`)
  if (wrong !== '') throw new Error(`${url}: ${wrong}`)
  if (broken !== '0') throw new Error(`${broken} connections to ${url} broke`)
  return { answers: Number(answers), p50: Number(p50) / 1000, p99: Number(p99) / 1000 }
}

/** wrk gives each thread a Lua of its own and `done` another: what a thread has counted is asked of it. */
function scriptFor({ bodies, posts, refused, numbered, perSecond }: Order, list: string): string {
  const isNumbered = bodies.some(body => body.includes('{n}'))
  return `
wrk.method = 'POST'
wrk.headers['Content-Type'] = 'application/json'
answers, wrong = 0, ''
local requests, at, number = {}, 0, ${numbered}
function init()
  local path
  for line in io.lines('${list}') do
    if path then requests[#requests + 1] = ${isNumbered ? '{ path, line }' : 'wrk.format(nil, path, nil, line)'} path = nil else path = line end
  end
end
function request()
  at = at % #requests + 1
  ${isNumbered ? NUMBERED : 'return requests[at]'}
end
${Number.isFinite(perSecond) ? paced(1000 / perSecond) : ''}
function response(status, headers, text)
  answers = answers + 1
  local isError = string.find(text, '"error"', 1, true) ~= nil
  if status ~= 200 or isError ~= ${refused} then wrong = 'HTTP ' .. status .. ': ' .. string.sub(text, 1, 300) end
  if wrong ~= '' or answers >= ${Number.isFinite(posts) ? posts : 'math.huge'} then
    wrk.thread:stop()
    io.stdout:write('over\\n')
    io.stdout:flush()
  end
end
local sender
function setup(thread) sender = thread end
function done(summary, latency)
  local e = summary.errors
  local broken = e.connect + e.read + e.write + e.timeout
  local text = 'answers %d broken %d p50 %d p99 %d wrong <%s>'
  local p50, p99 = latency:percentile(50), latency:percentile(99)
  print(text:format(sender:get('answers'), broken, p50, p99, sender:get('wrong')))
end
`
}

const NUMBERED = `local path, body = unpack(requests[at])
  number = number + 1
  return wrk.format(nil, path, nil, (body:gsub('{n}', ('%08x'):format(number - 1))))`

/** A post each so many milliseconds, on whichever connection is free: wrk asks before each how long to wait. */
function paced(ms: number): string {
  return `
local ffi = require('ffi')
ffi.cdef('typedef struct { long s, us; } timeval; int gettimeofday(timeval *, void *);')
local time = ffi.new('timeval')
local function now()
  ffi.C.gettimeofday(time, nil)
  return tonumber(time.s) * 1000 + tonumber(time.us) / 1000
end
local due
function delay()
  due = due and due + ${ms} or now()
  return math.max(0, math.floor(due - now()))
end
`
}
