import { EventEmitter, once } from 'node:events'
import { Agent, get, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { Closing } from '../../src/runtime/closing.ts'
import { openAdmin } from '../../src/runtime/open-listeners.ts'

const NAMES = { admin: { host: '127.0.0.1', port: 0 }, adminHosts: [] }

// A scrape in the moment of a roll ended without a reply.
t.test('a request to the admin listener that is under way when it closes is answered', async t => {
  const closing = new Closing()
  const bug = (error: unknown): void => {
    t.fail(String(error))
  }
  const events = new EventEmitter()
  const [asked, reply] = [once(events, 'asked'), once(events, 'reply')]
  const { admin } = await openAdmin(
    { snapshot: { gateway: NAMES }, live: { observer: { bug } } },
    {
      routes: {
        'GET /metrics': async () => {
          events.emit('asked')
          await reply
          return { status: 200, text: 'all of it', type: 'text/plain' }
        },
        'GET /livez': () => ({ status: 200, text: 'ok\n', type: 'text/plain' }),
      },
      api: { answer: () => null, refused: () => null },
    },
    { admin: { host: '127.0.0.1', port: 0 }, probes: null },
    closing,
  )
  // One that is idle holds nothing up.
  const agent = new Agent({ keepAlive: true })
  const [idle] = (await once(get(`http://${admin}/livez`, { agent }), 'response')) as [IncomingMessage]
  const idleEnds = once(idle.socket, 'close')
  t.equal(await text(idle), 'ok\n')
  const scrape = request(`http://${admin}/metrics`, { agent: false }).end()
  const answered = once(scrape, 'response') as Promise<[IncomingMessage]>
  await asked
  const closed = closing.close()
  await idleEnds
  for (let turns = 0; turns < 100; turns += 1) await turn()
  events.emit('reply')
  const [response] = await answered
  t.equal(response.statusCode, 200)
  t.equal(await text(response), 'all of it')
  await closed
  agent.destroy()
})
