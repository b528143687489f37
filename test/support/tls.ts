import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'

/** A certificate for localhost that only tests know, with its key, good until the next century. */
export interface TestCertificate {
  readonly cert: string
  readonly key: string
}

function read(name: string): TestCertificate {
  const text = (part: string) =>
    readFileSync(new URL(`certificates/${name}.${part}.pem`, import.meta.url), 'utf8')
  return { cert: text('cert'), key: text('key') }
}

/** Two that have nothing to do with each other. */
export const certificates = { first: read('first'), second: read('second') }

/** Where a configuration directory keeps them, as gateway.yaml says it. */
export const tlsYaml = { cert: 'cert.pem', key: 'key.pem' }

/** Puts a certificate where gateway.yaml says it is. */
export async function writeCertificate(dir: string, { cert, key }: TestCertificate): Promise<void> {
  await writeFile(join(dir, tlsYaml.cert), cert)
  await writeFile(join(dir, tlsYaml.key), key)
}

/** A TLS connection that trusts exactly one certificate; rejects when the handshake fails. */
export async function openTls(
  port: number,
  trusted: TestCertificate,
  options: { readonly maxVersion?: 'TLSv1.1' | 'TLSv1.2'; readonly minVersion?: 'TLSv1' } = {},
): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: trusted.cert, ...options })
  await once(socket, 'secureConnect')
  socket.on('error', () => undefined)
  return socket
}

/** Writes bytes over TLS and gives everything that comes back until the other side closes. */
export async function exchangeTls(port: number, trusted: TestCertificate, bytes: string): Promise<string> {
  const socket = await openTls(port, trusted)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write(bytes)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString()
}
