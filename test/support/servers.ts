/** Real PostgreSQL and Redis servers of a test's own, from the programs that are installed. */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { appendFileSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from './free-port.ts'
import { tempDir } from './temp-dir.ts'
import type { Teardown } from './teardown.ts'
import { until } from './until.ts'

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** A server that is stopped, killed and started again as a test wants it. */
export interface Server {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Sends a signal to it and to the processes that it has started. */
  signal(signal: NodeJS.Signals): void
  /** Ends it as a crash would; `start` brings it back with what it had written. */
  kill(): Promise<void>
  start(): Promise<void>
}

/** What is in the way of tests on real servers; null where both are installed. `CI` must have them: there a test fails instead. */
export const noServers: string | false =
  binaryOf('postgres') === null || binaryOf('initdb') === null
    ? 'PostgreSQL is not installed (apt-get install postgresql)'
    : redisBinary() === null
      ? 'neither redis-server nor valkey-server is installed (apt-get install redis-server)'
      : false

if (noServers !== false && process.env['CI'] !== undefined) throw new Error(noServers)

/** PostgreSQL refuses to run as root: there it is the user nobody. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

/** An empty PostgreSQL server with a database `tollgate`, on loopback, and on `address` too where there is one. */
export async function startPostgres(
  t: Teardown,
  settings: readonly string[] = [],
  address?: string,
): Promise<Server> {
  const dir = await ownDir(t, 'postgres')
  const data = join(dir, 'data')
  const port = await freePort()
  const options = ['-D', data, '-U', 'tollgate', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  await promisify(execFile)(binaryOf('initdb')!, options, { ...nobody, cwd: dir })
  if (address !== undefined) appendFileSync(join(data, 'pg_hba.conf'), 'host all all all trust\n')
  const args = [
    '-D',
    data,
    '-p',
    String(port),
    '-k',
    dir,
    '-h',
    ['127.0.0.1', address ?? []].flat().join(),
    ...['fsync=off', 'full_page_writes=off', ...settings].flatMap(setting => ['-c', setting]),
  ]
  const url = `postgres://tollgate@127.0.0.1:${port}/postgres`
  return startServer(t, binaryOf('postgres')!, args, { port, url, dir, answers: answersQuery }, 'SIGQUIT')
}

/** An empty Redis or Valkey server, which keeps nothing on disk, on loopback, and on `address` too where there is one. */
export async function startRedis(t: Teardown, address?: string): Promise<Server> {
  const dir = await ownDir(t, 'redis')
  const port = await freePort()
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    ...(address === undefined ? [] : [address]),
    '--protected-mode',
    'no',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    dir,
  ]
  return startServer(
    t,
    redisBinary()!,
    args,
    { port, url: `redis://127.0.0.1:${port}`, dir, answers: listens },
    'SIGTERM',
  )
}

/** Where a server runs, and whether it answers there yet. */
interface Place {
  readonly port: number
  readonly url: string
  readonly dir: string
  readonly answers: (port: number, url: string) => Promise<boolean | undefined>
}

async function startServer(
  t: Teardown,
  binary: string,
  args: readonly string[],
  { port, url, dir, answers }: Place,
  stop: NodeJS.Signals,
): Promise<Server> {
  let child: ChildProcess
  const start = async (): Promise<void> => {
    child = spawn(binary, args, { ...nobody, cwd: dir, stdio: 'ignore' })
    running.add(child)
    child.on('exit', () => running.delete(child))
    await until(`${binary} answers`, () => answers(port, url), 30_000)
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGCONT')
    child.kill(signal)
    await ended
  }
  await start()
  t.teardown(() => end(stop))
  return {
    url,
    port,
    get pid() {
      return child.pid!
    },
    signal: signal => {
      for (const pid of [child.pid!, ...childrenOf(child.pid!)])
        try {
          process.kill(pid, signal)
        } catch {
          // A process of one connection that has ended meanwhile.
        }
    },
    // PostgreSQL's other processes notice that the first is gone by themselves, a killed one keeps its shared memory.
    kill: () => end(stop === 'SIGQUIT' ? 'SIGQUIT' : 'SIGKILL'),
    start,
  }
}

function childrenOf(pid: number): number[] {
  const ids = readdirSync(`/proc/${pid}/task`).flatMap(thread => {
    const file = `/proc/${pid}/task/${thread}/children`
    return existsSync(file) ? readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number) : []
  })
  return [...new Set(ids)]
}

/** It listens before it has recovered from a crash. */
async function answersQuery(_: number, url: string): Promise<boolean | undefined> {
  const client = new pg.Client({ connectionString: url })
  return client.connect().then(
    () => client.end().then(() => true),
    () => undefined,
  )
}

async function listens(port: number): Promise<boolean | undefined> {
  const socket = connect(port, '127.0.0.1')
  return once(socket, 'connect').then(
    () => {
      socket.destroy()
      return true
    },
    () => undefined,
  )
}

async function ownDir(t: Teardown, name: string): Promise<string> {
  const parent = await tempDir(t)
  const dir = join(parent, name)
  mkdirSync(dir)
  if (nobody.uid !== undefined) {
    chownSync(parent, nobody.uid, nobody.gid)
    chownSync(dir, nobody.uid, nobody.gid)
  }
  return dir
}

/** Debian keeps PostgreSQL's programs off the PATH. */
function binaryOf(name: string): string | null {
  const versions = '/usr/lib/postgresql'
  const own = existsSync(versions) ? readdirSync(versions).map(version => join(versions, version, 'bin')) : []
  const dirs = [...(process.env['PATH'] ?? '').split(delimiter), ...own.sort().reverse()]
  return dirs.map(dir => join(dir, name)).find(file => existsSync(file)) ?? null
}

function redisBinary(): string | null {
  return binaryOf('valkey-server') ?? binaryOf('redis-server')
}
