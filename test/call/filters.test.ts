/** Filters by the role that a row gives a method, whatever its name. */
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { writeConfig } from '../support/config-files.ts'
import { prepareGateway, startGateway } from '../support/gateway.ts'
import { echo, error, result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'

const methods = `families:
  evm:
    watch_begin: { params: [0, 0], sticky: create }
    watch_read: { params: [1, 2], sticky: use }
    watch_end: { params: [1, 1], sticky: end, cost: 0 }
    free: { params: [0, 0], cost: 0 }
`
const node = await startNode(t)
const setup = {
  networks: { alpha: { chainId: 1 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods,
}
const gateway = await startGateway(t, setup)
const access = await createAccess(gateway, 'paid', 'alpha')
const busy = await createAccess(gateway, 'paid', 'alpha')

t.beforeEach(() => {
  node.on('watch_begin', result('"0x7"')).on('watch_read', result('["0x1"]')).on('watch_end', result('true'))
})

const notFound = { code: -32000, message: 'filter not found' }
const begin = async (): Promise<string> => String((await access.call('watch_begin')).result)

t.test('a filter is over at the node that holds it: what is asked later, the node answers', async t => {
  const id = await begin()
  t.match(await access.call('watch_read', [id]), { result: ['0x1'] })
  t.match(await access.call('watch_end', [id]), { result: true })
  t.equal(node.requests.at(-1)?.params, '["0x7"]', 'the node knows its own id')
  node.on('watch_end', result('false')).on('watch_read', error(JSON.stringify(notFound)))
  t.match(await access.call('watch_end', [id]), { result: false })
  t.match(await access.call('watch_read', [id]), { error: notFound })
})

t.test('what does not open is not found, and no node hears of it', async t => {
  const id = await begin()
  const sent = node.calls.length
  const others = [`${id}00`, id.slice(0, -2), id.slice(0, -1), id.toUpperCase(), '0x7', 7, null, [id], {}]
  for (const other of others) {
    t.strictSame((await access.call('watch_read', [other])).error, notFound, JSON.stringify(other))
    t.equal((await access.call('watch_end', [other])).result, false, JSON.stringify(other))
  }
  const escaped = `{"jsonrpc":"2.0","id":1,"method":"watch_read","params":["\\u0030${id.slice(1)}"]}`
  t.strictSame(JSON.parse((await access.post(escaped)).text).error, notFound)
  t.equal(node.calls.length, sent)
  t.match(await access.call('watch_read', [id]), { result: ['0x1'] })
})

t.test('the other params reach the node as they are, whatever its id looks like', async t => {
  node.on('watch_begin', result('"\\u00e9 \\" 7"')).on('watch_read', echo)
  const id = await begin()
  const text = `{"jsonrpc":"2.0","id":1,"method":"watch_read","params":[ "${id}" , {"a": 1.0} ]}`
  await access.post(text)
  t.equal(node.requests.at(-1)?.params, '["\\u00e9 \\" 7" , {"a": 1.0} ]')
})

t.test('an id of a node that is too long to be one is no usable reply', async t => {
  node.on('watch_begin', result(`"${'7'.repeat(2_000)}"`))
  t.match(await access.call('watch_begin'), { error: { data: { reason: 'upstream_error' } } })
})

t.test('neither is one of a megabyte, which would stream', async t => {
  node.on('watch_begin', result(`"${'7'.repeat(1_200_000)}"`))
  t.match(await access.call('watch_begin'), { error: { data: { reason: 'upstream_error' } } })
})

t.test('an id works after a restart, and in another process with the same master key', async t => {
  const id = await begin()
  await gateway.stop()
  await gateway.start()
  t.match(await access.call('watch_read', [id]), { result: ['0x1'] })

  const other = await prepareGateway(t, setup)
  await gateway.stop()
  await cp(join(gateway.dir, 'data'), join(other.dir, 'data'), { recursive: true })
  await gateway.start()
  await other.start()
  const { slug, key } = access
  t.match(await new Access(other, slug, key).call('watch_read', [id]), { result: ['0x1'] })
  const stranger = await createAccess(other, 'paid', 'alpha')
  t.strictSame((await stranger.call('watch_read', [id])).error, notFound, 'but only for its owner')
})

t.test('where the route of a filter is gone, the filter is', async t => {
  const id = await begin()
  const edit = async (routeId: string): Promise<void> => {
    await writeConfig(gateway.dir, { ...setup, routes: [{ ...setup.routes[0]!, id: routeId }] })
    await gateway.stop()
    await gateway.start()
  }
  await edit('alpha-renamed')
  const sent = node.calls.length
  t.strictSame((await access.call('watch_read', [id])).error, notFound)
  t.equal((await access.call('watch_end', [id])).result, false)
  t.equal(node.calls.length, sent)
  await edit('alpha-a')
  t.match(await access.call('watch_read', [id]), { result: ['0x1'] }, 'it is under its name again')
})

t.test('behind another URL of its route there is another node, and a filter of another', async t => {
  const id = await begin()
  const other = await startNode(t)
  other.on('watch_read', result('["0x666"]')).on('watch_end', result('true'))
  const lead = async (http: string): Promise<void> => {
    await writeConfig(gateway.dir, { ...setup, routes: [{ ...setup.routes[0]!, http }] })
    const reply = await fetch(`${gateway.adminUrl}/reload`, { method: 'POST' })
    t.match(await reply.json(), { ok: true })
  }
  await lead(other.url)
  t.strictSame((await access.call('watch_read', [id])).error, notFound)
  t.equal((await access.call('watch_end', [id])).result, false)
  t.equal(other.count('watch_read') + other.count('watch_end'), 0, 'which hears nothing of it')
  await lead(node.url)
  t.match(await access.call('watch_read', [id]), { result: ['0x1'] })
})

t.test('an end that costs nothing is free of rate as often as filters were made', async t => {
  const spend = async (): Promise<void> => {
    for (let i = 0; i < 60; i++) await busy.call('free')
  }
  const id = (await busy.call('watch_begin')).result
  await spend()
  t.match(await busy.call('watch_end', [id]), { result: true })
  await spend()
  const again = await Promise.all(Array.from({ length: 40 }, () => busy.call('watch_end', [id])))
  t.ok(again.some(reply => reply.error?.data?.reason === 'rate_limited'))
})
