import { once } from 'node:events'
import { createServer, request, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Route } from '../../src/snapshot/types.ts'
import { LiveRoute } from '../../src/routes/live-route.ts'
import type { StreamedBody } from '../../src/routes/transport/streamed-body.ts'
import { HttpProxy } from '../../src/routes/transport/proxy/http-proxy.ts'

/** Milliseconds that a reply may say nothing in these tests. */
const silence = 100
const part = 'a'.repeat(1024 * 1024)

async function listen(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.closeAllConnections())
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The body of a verbatim request, sent on for a client that does not leave. */
async function throughHop(t: Test, http: string): Promise<StreamedBody> {
  const proxy = new HttpProxy({ http, headers: {} }, 1_000, silence)
  t.teardown(() => proxy.destroy())
  return new Promise((resolve, reject) => {
    const url = listen(t, (incoming, response) => {
      const proxied = {
        request: incoming,
        response,
        verb: 'GET',
        target: '/x',
        bodyLimit: null,
        refusal: () => null,
      }
      proxy.send(proxied, 5_000).then(result => {
        if (result.kind === 'head') resolve(result.body)
        else reject(new Error(result.how))
      }, reject)
    })
    void url.then(client => {
      const sent = request(client).on('error', () => undefined)
      sent.end()
      t.teardown(() => sent.destroy())
    })
  })
}

/** The body of a JSON-RPC call's long reply, and the route that gave it. */
async function throughRoute(t: Test, http: string): Promise<{ body: StreamedBody; live: LiveRoute }> {
  const route = {
    id: 'a',
    network: 'eth',
    http,
    ws: null,
    headers: {},
    timeout: null,
    errors: [],
    limits: { inFlight: null, perSecond: null },
    batch: 1,
  } as unknown as Route
  const live = new LiveRoute(route, 1_000)
  t.teardown(() => live.destroy())
  const asked = {
    body: '{}',
    id: 1,
    caller: 'a',
    heavy: false,
    departure: () => null,
    isAboutAnother: null,
    flight: null,
    traceparent: null,
    family: 'evm' as const,
    method: 'web3_sha3',
    params: '[]',
    isRange: false,
    rows: [],
  }
  const limits = { timeout: 5_000, holdBack: 64 * 1024, maxBytes: null, departure: null, silence }
  const verdict = await live.ask(asked, limits, () => performance.now())
  if (verdict.kind !== 'open') throw new Error(verdict.kind)
  return { body: verdict.body, live }
}

/** Reads it to where it throws. */
async function read(body: StreamedBody): Promise<number> {
  let bytes = 0
  try {
    for await (const piece of body) bytes += piece.length
  } catch {
    // how it ended is told by the body
  }
  return bytes
}

const opening = '{"jsonrpc":"2.0","id":1,"result":"'
/** Says a part of its reply and nothing more. */
const stalls: RequestListener = (_, response) => {
  response.writeHead(200, { 'content-length': String(10 * part.length) })
  response.write(opening + part)
}

t.test('a body whose upstream falls silent is broken off', async t => {
  const url = await listen(t, stalls)
  const body = await throughHop(t, url)
  t.equal(await read(body), opening.length + part.length)
  t.strictSame([await body.ended, body.isBrokenOff], ['timeout', true])
  const { body: long, live } = await throughRoute(t, url)
  t.equal(await read(long), part.length + 1)
  t.strictSame([await long.ended, long.isBrokenOff, live.breaker.lastError], ['timeout', true, 'timeout'])
})

t.test('what waits for its reader is no silence of the upstream', async t => {
  const url = await listen(t, stalls)
  const bodies = [await throughHop(t, url), (await throughRoute(t, url)).body]
  for (const body of bodies) {
    let bytes = 0
    const reading = (async () => {
      for await (const piece of body) {
        // The first piece takes far longer than the upstream may be silent.
        if (bytes === 0) await pause(5 * silence)
        bytes += piece.length
      }
    })()
    await t.rejects(reading)
    t.ok(bytes >= part.length, 'all that came has been read')
    t.equal(await body.ended, 'timeout')
  }
})

t.test('a body that nobody has read yet may break', async t => {
  const cuts: (() => void)[] = []
  const url = await listen(t, (_, response) => {
    response.writeHead(200, { 'content-length': String(10 * part.length) })
    response.write(opening + part.slice(0, 100_000))
    cuts.push(() => response.destroy())
  })
  for (const body of [await throughHop(t, url), (await throughRoute(t, url)).body]) {
    for (const cut of cuts.splice(0)) cut()
    await pause(50) // nothing tells of what nobody reads
    await read(body)
    t.strictSame([await body.ended, body.isBrokenOff], ['reset', true])
  }
})

t.test('a reader that leaves, or never comes, breaks nothing', async t => {
  const url = await listen(t, stalls)
  const [left, unread] = [await throughRoute(t, url), await throughRoute(t, url)]
  for await (const piece of left.body) {
    t.ok(piece.length > 0)
    break
  }
  unread.body.destroy()
  for (const { body, live } of [left, unread]) {
    t.strictSame([await body.ended, body.isBrokenOff, live.breaker.lastError], ['aborted', false, null])
  }
})

t.test('a route that is closed lets go of its bodies', async t => {
  const url = await listen(t, stalls)
  const { body, live } = await throughRoute(t, url)
  const reading = read(body)
  await live.destroy()
  await reading
  t.strictSame([await body.ended, live.breaker.lastError], ['aborted', null])
})
