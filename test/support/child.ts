import { spawn, type ChildProcess } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { within } from './until.ts'

/** How a process ended. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** The environment that children get: the way to programs and nothing of this run's own settings. */
export function cleanEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'TZ'].flatMap(name => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  return { ...(Object.fromEntries(kept) as Record<string, string>), ...extra }
}

/** A process under test, with all it has printed. */
export class Child {
  stdout = ''
  stderr = ''
  readonly pid: number
  readonly exited: Promise<Exit>
  readonly #process: ChildProcess
  readonly #output = new EventEmitter()
  #gone = false

  constructor(command: string, args: readonly string[], env: Record<string, string>, cwd?: string) {
    const options = { env, stdio: ['ignore', 'pipe', 'pipe'] as const, ...(cwd === undefined ? {} : { cwd }) }
    const child = spawn(command, args, { ...options, stdio: [...options.stdio] })
    this.#process = child
    child.on('error', () => undefined)
    running.add(child)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
      this.#output.emit('output')
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
      this.#output.emit('output')
    })
    if (child.pid === undefined) throw new Error(`cannot start ${command}`)
    this.pid = child.pid
    const closed = once(child, 'close')
    this.exited = once(child, 'exit').then(async ([code, signal]: unknown[]) => {
      // A grandchild that outlives it would keep the pipes open.
      await Promise.race([closed, pause(1_000, undefined, { ref: false })])
      this.#gone = true
      running.delete(child)
      this.#output.emit('output')
      return { code: code as number | null, signal: signal as NodeJS.Signals | null }
    })
  }

  /** Whether it has ended and closed its output. */
  get gone(): boolean {
    return this.#gone
  }

  /** Resolves with the first thing that `find` sees in the output; rejects when the process ends without it. */
  async output<T>(what: string, find: (child: this) => T | undefined, deadlineMs = 30_000): Promise<T> {
    const seen = async () => {
      for (;;) {
        const found = find(this)
        if (found !== undefined) return found
        if (this.#gone) throw new Error(`ended before ${what}\n${this.stdout}\n${this.stderr}`)
        await once(this.#output, 'output')
      }
    }
    return within(what, seen(), deadlineMs)
  }

  /** Sends a signal to this very process. */
  signal(signal: NodeJS.Signals): void {
    if (!this.#gone) this.#process.kill(signal)
  }

  /** Asks it to end and awaits that; kills it when it does not listen, which then shows in the exit. */
  async stop(signal: NodeJS.Signals = 'SIGTERM', deadlineMs = 20_000): Promise<Exit> {
    this.signal(signal)
    const timer = setTimeout(() => {
      this.signal('SIGKILL')
    }, deadlineMs)
    const exit = await this.exited
    clearTimeout(timer)
    return exit
  }
}
