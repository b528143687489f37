/** Watches the files of the certificate, wherever the configuration of now says they are. */
import type { GatewayConfig } from '../config/types.ts'
import { watchFiles } from './watch.ts'

/** Follows the configuration; opens at start, closes with the program. */
export class CertificateWatch {
  readonly #changed: () => void
  #files: readonly string[] = []
  #stop: () => void = () => undefined
  #closed = false

  constructor(changed: () => void) {
    this.#changed = changed
  }

  /** Watches these files instead of the last ones. */
  async follow(tls: GatewayConfig['tls']): Promise<void> {
    const files = tls === null ? [] : [tls.cert, tls.key]
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
