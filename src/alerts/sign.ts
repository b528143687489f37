/** The headers of a message, as the Standard Webhooks specification has them. */
import { Webhook } from 'standardwebhooks'

/** What is sent. */
export interface Signed {
  readonly id: string
  readonly body: string
  readonly secret: string
  /** Of this program. */
  readonly version: string
}

/** Headers for an attempt at this time (Unix milliseconds). */
export function sign({ id, body, secret, version }: Signed, now: number): Readonly<Record<string, string>> {
  const at = new Date(Math.floor(now / 1000) * 1000)
  return {
    'content-type': 'application/json',
    'user-agent': `Tollgate/${version}`,
    'webhook-id': id,
    'webhook-timestamp': String(at.getTime() / 1000),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  }
}
