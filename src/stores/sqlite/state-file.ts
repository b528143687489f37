/** `state.json` in the data directory: what a process keeps for the one that comes after it. */
import { readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { STATE_FILE } from './data-dir.ts'

/** Block times are true for any process; the rest is for the same gateway only. */
type Part = 'paces' | 'counters' | 'networksDown' | 'reloads'

/** Whose file it is, beside the parts. */
const GATEWAY = 'gateway'

/** Written whole at each change, beside its place first. */
export class StateFile {
  readonly #file: string
  readonly #failed: (error: Error) => void
  /** In JSON. */
  readonly #parts: Map<string, string>
  #writing: Promise<void> | null = null
  #isWritten = true
  #hasFailed = false

  /**
   * Reads the file; one that is missing or incomplete is empty. `gateway` names a gateway from its start to its end, null where one process is all of
   * it. `failed` hears when the file cannot be written, once.
   */
  constructor(dataDir: string, gateway: string | null, failed: (error: Error) => void) {
    this.#file = join(dataDir, STATE_FILE)
    this.#failed = failed
    const found = readParts(this.#file)
    const isOurs = gateway !== null && found[GATEWAY] === gateway
    const parts = Object.entries(found).filter(([part]) => isOurs || part === ('paces' satisfies Part))
    this.#parts = new Map(parts.map(([part, value]) => [part, JSON.stringify(value)]))
    this.#parts.set(GATEWAY, JSON.stringify(gateway))
  }

  /** What the process before has kept; null where it has not. */
  read(part: Part): unknown {
    const text = this.#parts.get(part)
    return text === undefined ? null : JSON.parse(text)
  }

  /** Keeps what can be written in JSON; resolves when it is in the file, or cannot be. */
  keep(part: Part, value: unknown): Promise<void> {
    this.#parts.set(part, JSON.stringify(value))
    this.#isWritten = false
    this.#writing ??= this.#write()
    return this.#writing
  }

  async #write(): Promise<void> {
    while (!this.#isWritten) {
      this.#isWritten = true
      const parts = [...this.#parts].map(([part, text]) => `${JSON.stringify(part)}:${text}`)
      try {
        await writeFile(`${this.#file}.new`, `{${parts.join(',')}}`, { mode: 0o600 })
        await rename(`${this.#file}.new`, this.#file)
      } catch (error) {
        if (!this.#hasFailed) this.#failed(error as Error)
        this.#hasFailed = true
      }
    }
    this.#writing = null
  }
}

function readParts(file: string): Readonly<Record<string, unknown>> {
  try {
    const found: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof found === 'object' && found !== null ? { ...found } : {}
  } catch {
    return {}
  }
}
