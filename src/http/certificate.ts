/** The certificate that the public listener serves with; a renewed one is for the connections that come after it. */
import { X509Certificate } from 'node:crypto'
import type { CertificateFiles } from '../config/certificate.ts'

/** What Node makes a secure context of. */
export interface ContextOptions extends CertificateFiles {
  readonly minVersion: 'TLSv1.2'
}

/** Lives as long as the listener. */
export class Certificate {
  #files: CertificateFiles
  /** When the first certificate of the file expires, in Unix seconds. */
  #expiresAt: number
  #tell: (context: ContextOptions) => void = () => undefined

  constructor(files: CertificateFiles) {
    this.#files = files
    this.#expiresAt = expiryOf(files)
  }

  get expiresAt(): number {
    return this.#expiresAt
  }

  get context(): ContextOptions {
    return { ...this.#files, minVersion: 'TLSv1.2' }
  }

  /** Calls `tell` with each renewed one. */
  onChange(tell: (context: ContextOptions) => void): void {
    this.#tell = tell
  }

  /** Serves with other files from now on; whether they are others. */
  renew(files: CertificateFiles): boolean {
    if (files.cert.equals(this.#files.cert) && files.key.equals(this.#files.key)) return false
    this.#files = files
    this.#expiresAt = expiryOf(files)
    this.#tell(this.context)
    return true
  }
}

function expiryOf({ cert }: CertificateFiles): number {
  return Date.parse(new X509Certificate(cert).validTo) / 1000
}
