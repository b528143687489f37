/** A family that does not ship: all that the gateway knows of its nodes stands in this file. */
import t from 'tap'
import { startApp } from '../../src/runtime/alone.ts'
import { addFamily } from '../../src/families/families.ts'
import type { Family } from '../../src/families/family.ts'
import { jsonrpc } from '../../src/families/jsonrpc/jsonrpc.ts'
import { wordsOf } from '../../src/config/families.ts'
import { readQuantity } from '../../src/jsonrpc/quantity.ts'
import { openLog } from '../../src/observe/log.ts'
import { writeConfig } from '../support/config-files.ts'
import { get, send } from '../support/http.ts'
import { error, result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

/** Nodes count their heights in rungs, and say 7 when they are tired. */
const ladder: Family = {
  ...jsonrpc,
  codes: 'solana',
  methodName: /^[a-z]+\?$/,
  errors: {
    ...jsonrpc.errors,
    table: [{ codes: [7], text: null, methods: null, family: null, class: 'limited' }],
  },
  probe: async probing => {
    const told = await probing.askAlive('rung?', '[]')
    const rung = told.kind === 'result' ? readQuantity(told.result) : null
    if (rung !== null) probing.claim(rung)
  },
  identify: async probing => {
    const told = await probing.ask('who?', '[]')
    if (told.kind === 'failed') return undefined
    return told.kind === 'result' && told.result === `"${probing.network.chainId}"`
      ? null
      : 'it is another ladder'
  },
  well: '"up"',
}

t.test('a family is added in its own folder and serves a call', async t => {
  addFamily('ladder', ladder, {
    ...wordsOf('jsonrpc'),
    names: { pattern: /^[a-z]+\?$/, hint: 'write a word and a question mark' },
    called: 'a ladder',
    unused: { head: 'remove it', identity: 'remove it' },
  })
  const [a, b, other] = [await startNode(t), await startNode(t), await startNode(t)]
  for (const node of [a, b]) node.on('who?', result('"oak"')).on('rung?', result('40'))
  other.on('who?', result('"ash"')).on('rung?', result('41'))
  a.on('tired?', error('{"code":7,"message":"yes"}'))
  b.on('tired?', result('"no"'))
  const dir = await tempDir(t)
  await writeConfig(dir, {
    baseUrl: 'http://127.0.0.1:{port}/{slug}',
    networks: { oak: { family: 'ladder' as 'jsonrpc', chainId: 'oak', public: true } },
    routes: [
      { id: 'other', network: 'oak', http: other.url, priority: 0 },
      { id: 'a', network: 'oak', http: a.url },
      { id: 'b', network: 'oak', http: b.url, priority: 2 },
    ],
    methods:
      'families: { ladder: { "tired?": { retry: safe }, "well?": { answer: health }, "off?": { tier: paid } } }',
  })
  const output = { write: () => undefined }
  const app = await startApp({ dir, env: {}, makeLog: () => openLog('silent', output), output })
  t.teardown(() => app.stop())
  await until('its routes have been looked at', async () => {
    const { networks } = JSON.parse((await get(`http://${app.admin}/status`)).text) as {
      networks: { head: number | null; routes: { why?: string }[] }[]
    }
    return networks[0]?.head === 40 && networks[0].routes.some(({ why }) => why === 'it is another ladder')
  })
  const port = Number(app.listen.split(':')[1])
  const call = async (method: string) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })
    return JSON.parse((await send(port, { path: '/oak/v1/rpc/public', body })).text) as unknown
  }
  t.match(await call('tired?'), { result: 'no' }, 'its table of errors sends the call to the next route')
  t.equal(other.count('tired?'), 0, 'its question for the chain shuts a route out')
  t.match(await call('well?'), { result: 'up' })
  t.match(await call('off?'), { error: { code: 403, data: { reason: 'plan_required' } } })
})
