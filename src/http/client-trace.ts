/** What clients say of the traces that their requests belong to. */
import type { IncomingMessage } from 'node:http'
import type { Gateway } from '../call/gateway.ts'
import type { ClientTrace } from '../ports/tracing.ts'
import type { Addresses } from './address.ts'

/** Reads the header, and whether its sender is believed (gateway.yaml, `tracing.parent`); undefined where nothing is traced. */
export function clientTraceOf(
  { headers: { traceparent }, socket }: IncomingMessage,
  { snapshot }: Pick<Gateway, 'snapshot'>,
  addresses: Pick<Addresses, 'isProxy'>,
): ClientTrace | undefined {
  const { tracing } = snapshot.gateway
  if (tracing === null || typeof traceparent !== 'string') return undefined
  const { parent } = tracing
  const isBelieved =
    parent === 'any' || (parent === 'trusted' && addresses.isProxy(socket.remoteAddress ?? ''))
  return { traceparent, isBelieved }
}

/** Reads the header of a WebSocket handshake. It is never believed: frames that come hours later would join its trace. Their traces link to it. */
export function socketTraceOf(
  { headers: { traceparent } }: IncomingMessage,
  { snapshot }: Pick<Gateway, 'snapshot'>,
): ClientTrace | undefined {
  if (snapshot.gateway.tracing === null || typeof traceparent !== 'string') return undefined
  return { traceparent, isBelieved: false }
}
