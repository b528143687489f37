/** Tells the operator of a proxy in front whose word on client addresses is not believed: limits would count all of them as one. */
import type { Logger } from '../observe/log.ts'

export function warnOfProxy(log: Pick<Logger, 'warn'>): (peer: string) => void {
  return peer => {
    log.warn(
      { peer },
      'X-Forwarded-For and X-Forwarded-Proto are ignored: this peer is not in trustedProxies',
    )
  }
}
