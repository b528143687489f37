import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { get, send } from '../support/http.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

const NAME = 'tollgate_config_last_reload_success_timestamp_seconds'
const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
})

const text = async (): Promise<string> => (await get(`${gateway.adminUrl}/metrics`)).text
const timestamp = async (): Promise<number> =>
  Number(new RegExp(`^${NAME} (\\d+)$`, 'm').exec(await text())?.[1])
const port = Number(new URL(gateway.adminUrl).port)
const reload = (): Promise<{ status: number }> => send(port, { method: 'POST', path: '/reload' })

t.test('the timestamp moves with each successful reload, changed or not, and with no other', async t => {
  const start = await timestamp()
  const next = (last: number) => (): Promise<boolean> => Promise.resolve(Math.floor(Date.now() / 1000) > last)
  await until('another second', next(start))
  t.equal((await reload()).status, 200)
  const unchanged = await timestamp()
  t.ok(unchanged > start, 'nothing had changed')
  await until('another second', next(unchanged))
  await appendFile(join(gateway.dir, 'plans.yaml'), '\nnonsense: true\n')
  t.equal((await reload()).status, 422)
  t.equal(await timestamp(), unchanged, 'the edit was not valid')
  t.match(await text(), new RegExp(`^# HELP ${NAME} .*found valid, changed or not`, 'm'))
})
