/** Refuses requests that Node has taken off the HTTP server: upgrades and CONNECT. */
import { ServerResponse } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Gateway } from '../../call/gateway.ts'
import { isRefusal } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import { columnOf } from '../../call/caller.ts'
import { endAfter } from '../body.ts'
import { readTarget, refuseEarly, visitOf } from '../visit.ts'

/** Answers with the refusal and ends the connection; `status` replaces the table's. */
export function refuseDetached(
  request: IncomingMessage,
  socket: Socket,
  refusal: Refusal,
  gateway: Gateway,
  status?: number,
): void {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.on('finish', () => {
    socket.end()
  })
  endAfter(request)
  const target = readTarget(request, gateway)
  const isPath = !isRefusal(target) && target.path !== ''
  const column = isPath ? 'path' : columnOf(isRefusal(target) ? null : target.network)
  refuseEarly(visitOf(request, response, gateway), refusal, column, gateway, status)
}
