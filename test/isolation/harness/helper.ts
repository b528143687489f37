import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { root } from '../../support/paths.ts'

/** What a helper process is asked, and what it says. */
export interface Asked {
  readonly id: number
  readonly what: string
  readonly input: any
}

/** A process of the harness with an event loop of its own, which answers what it is asked. */
export class Helper {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, { resolve: (value: any) => void; reject: (error: Error) => void }>()
  #last = 0

  /** `file` is a program beside this one. */
  constructor(file: string) {
    const path = fileURLToPath(new URL(file, import.meta.url))
    this.#child = fork(path, [], { execArgv: ['--import=tsx'], cwd: root, stdio: 'inherit' })
    this.#child.on('message', ({ id, value, error }: any) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (error === undefined) waiting?.resolve(value)
      else waiting?.reject(new Error(error))
    })
    this.#child.on('exit', code => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${file} ended with ${code}`))
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  async ask(what: string, input: unknown = {}): Promise<any> {
    return new Promise((resolve, reject) => {
      const id = ++this.#last
      this.#waiting.set(id, { resolve, reject })
      this.#child.send({ id, what, input })
    })
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exited
  }
}

/** The other side: answers each question by the handler of its name. */
export function answerAs(handlers: Readonly<Record<string, (input: any) => unknown>>): void {
  process.on('message', ({ id, what, input }: Asked) => {
    void (async () => {
      try {
        process.send!({ id, value: await handlers[what]!(input) })
      } catch (error) {
        process.send!({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
      }
    })()
  })
  process.on('disconnect', () => process.exit())
}
