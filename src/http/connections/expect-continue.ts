/** `Expect: 100-continue`: the body is asked for once the head has passed its checks, so a refused one is never sent. */
import type { IncomingMessage, ServerResponse } from 'node:http'

const waiting = new WeakMap<IncomingMessage, ServerResponse>()

/** Remembers that the client waits to be asked for its body. */
export function awaitContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response)
}

/** Whether the client was not asked for its body: it may come all the same, or not. */
export function awaitsContinue(request: IncomingMessage): boolean {
  return waiting.has(request)
}

/** Asks for the body, where the client waits for that. */
export function sendContinue(request: IncomingMessage): void {
  waiting.get(request)?.writeContinue()
  waiting.delete(request)
}
