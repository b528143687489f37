import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { Teardown } from './teardown.ts'

/** Starts an HTTP server of Node's on a free loopback port, which lives as long as the test. */
export async function startPlainServer(t: Teardown): Promise<Server> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return server
}
