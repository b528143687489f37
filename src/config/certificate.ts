/** Reads the certificate that gateway.yaml names. */
import { readFile } from 'node:fs/promises'
import type { createSecureContext } from 'node:tls'
import { fileFault } from './words/file-words.ts'
import type { GatewayConfig } from './types.ts'

/** What a TLS server serves with; both are PEM. */
export interface CertificateFiles {
  readonly cert: Buffer
  readonly key: Buffer
}

/** Why a certificate cannot be served, and which key of `tls` is to blame. */
export interface CertificateMistake {
  readonly at: 'cert' | 'key'
  readonly message: string
  readonly hint?: string
}

/** The files, when a server can use them together. Nothing of a key is ever told. */
export async function readCertificate(
  tls: NonNullable<GatewayConfig['tls']>,
): Promise<CertificateFiles | CertificateMistake> {
  const cert = await read(tls.cert, 'cert')
  if (!Buffer.isBuffer(cert)) return cert
  const key = await read(tls.key, 'key')
  if (!Buffer.isBuffer(key)) return key
  // Most configurations have none, and a small command would wait for it.
  const { createSecureContext } = await import('node:tls')
  const accepted = (files: Partial<CertificateFiles>): boolean => isAccepted(createSecureContext, files)
  if (!accepted({ cert })) return { at: 'cert', message: 'the file holds no certificate in PEM' }
  if (!accepted({ key }))
    return { at: 'key', message: 'the file holds no private key in PEM', hint: 'it may have no passphrase' }
  if (!accepted({ cert, key })) return { at: 'key', message: 'the key does not belong to the certificate' }
  return { cert, key }
}

async function read(file: string, at: 'cert' | 'key'): Promise<Buffer | CertificateMistake> {
  try {
    return await readFile(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const message =
      code === 'ENOENT' ? 'the file does not exist' : `the file cannot be read: ${fileFault(error)}`
    return { at, message }
  }
}

function isAccepted(make: typeof createSecureContext, files: Partial<CertificateFiles>): boolean {
  try {
    make(files)
    return true
  } catch {
    return false
  }
}
