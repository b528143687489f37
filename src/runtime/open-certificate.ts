/** Joins the certificate's files to the listener that serves with them. */
import { readCertificate } from '../config/certificate.ts'
import type { GatewayConfig } from '../config/types.ts'
import { Certificate } from '../http/certificate.ts'

type Tls = NonNullable<GatewayConfig['tls']>

/** The certificate of a listener that speaks TLS; null for one that does not. */
export async function openCertificate(tls: Tls | null): Promise<Certificate | null> {
  if (tls === null) return null
  const files = await readCertificate(tls)
  // It was read a moment ago, when the configuration was loaded.
  if ('at' in files) throw new Error(`cannot serve TLS: ${tls[files.at]}: ${files.message}`)
  return new Certificate(files)
}

/** Whether the files hold another certificate, which is then served; ones that have just broken are told by the next look. */
export async function renewCertificate(certificate: Certificate, tls: Tls): Promise<boolean> {
  const files = await readCertificate(tls)
  return !('at' in files) && certificate.renew(files)
}
