/** Watches the files that a configuration names besides its own five: its certificate, the dashboard's logo, and what methods.yaml extends. */
import type { Config } from '../config/types.ts'
import { watchFiles } from './watch.ts'

/** Follows the configuration of now; opens at start, closes with the program. */
export class OtherFiles {
  readonly #changed: () => void
  #files: readonly string[] = []
  #stop: () => void = () => undefined
  #closed = false

  constructor(changed: () => void) {
    this.#changed = changed
  }

  /** Watches the files of this configuration instead of the last ones. */
  async follow({
    gateway: { tls, dashboard },
    extended,
  }: Pick<Config, 'gateway' | 'extended'>): Promise<void> {
    const logo = dashboard?.logo ?? null
    const files = [
      ...(tls === null ? [] : [tls.cert, tls.key]),
      ...(logo === null ? [] : [logo.file]),
      ...extended,
    ]
    if (files.join('\0') === this.#files.join('\0')) return
    this.#files = files
    this.#stop()
    const stop = files.length === 0 ? (): void => undefined : await watchFiles(files, this.#changed)
    if (this.#closed || this.#files !== files) stop()
    else this.#stop = stop
  }

  close(): void {
    this.#closed = true
    this.#stop()
  }
}
