import { cp } from 'node:fs/promises'
import t from 'tap'
import { run, runJson } from '../support/cli.ts'
import { createAccess } from '../support/accounts.ts'
import { Gateway } from '../support/gateway.ts'
import { result1, likeBitcoind } from '../support/bitcoind.ts'
import { result } from '../support/node-replies.ts'
import { root } from '../support/paths.ts'
import { startNode } from '../support/scripted-node.ts'
import { tempDir } from '../support/temp-dir.ts'

/** Each example, all of its environment, and its counts. */
const examples = {
  bitcoin: [
    {
      BITCOIN_A_URL: 'http://u:p@10.0.0.1:8332',
      BITCOIN_B_URL: 'http://u:p@10.0.0.2:8332',
      BITCOIN_B_ENABLED: 'true',
      BITCOIN_GENESIS: '0'.repeat(63) + '1',
    },
    { networks: 1, routes: 2, plans: 3 },
  ],
  starknet: [
    {
      STARKNET_A_URL: 'http://10.0.0.1/rpc',
      STARKNET_B_URL: 'http://10.0.0.2/rpc',
      STARKNET_B_ENABLED: 'true',
      STARKNET_SEPOLIA_A_URL: 'http://10.0.0.3/rpc',
    },
    { networks: 2, routes: 3, plans: 3 },
  ],
} as const

for (const [name, [env, counts]] of Object.entries(examples)) {
  t.test(`examples/${name} has no problem, without an environment and with all of it`, async t => {
    for (const given of [{}, env])
      t.match(await runJson(`${root}/examples/${name}`, ['check'], given), { ok: true, problems: [], counts })
  })
}

t.test('what they price, and what they leave out', async t => {
  const outcome = async (name: string, method: string, plan: string) => {
    const asked = ['explain', name, method, '--plan', plan, '--config', `${root}/examples/${name}`, '--json']
    return JSON.parse((await run(asked)).stdout) as { outcome: string; rule?: { cost: number } }
  }
  t.match(await outcome('bitcoin', 'getblock', 'free'), { outcome: 'forward', rule: { cost: 5 } })
  for (const method of ['dumpprivkey', 'sendtoaddress', 'getpeerinfo', 'stop', 'generatetoaddress'])
    t.equal((await outcome('bitcoin', method, 'paid')).outcome, 'refuse', method)
  t.equal((await outcome('starknet', 'starknet_traceTransaction', 'free')).outcome, 'refuse')
  t.match(await outcome('starknet', 'starknet_traceTransaction', 'paid'), {
    outcome: 'forward',
    rule: { cost: 20 },
  })
})

t.test('both serve a call of a real node', async t => {
  const bitcoind = likeBitcoind(await startNode(t), 900_000).on('estimatesmartfee', result1('{"blocks":6}'))
  const starknet = (await startNode(t))
    .on('starknet_blockNumber', result('5000'))
    .on('starknet_chainId', result('"0x534e5f4d41494e"'))
  const calls = [
    ['bitcoin', { BITCOIN_A_URL: bitcoind.url }, 'estimatesmartfee', [6], { blocks: 6 }],
    ['starknet', { STARKNET_A_URL: starknet.url }, 'starknet_blockNumber', [], 5000],
  ] as const
  for (const [slug, env, method, params, expected] of calls) {
    const dir = await tempDir(t)
    await cp(`${root}/examples/${slug}`, dir, { recursive: true })
    const here = { TOLLGATE_LISTEN: '127.0.0.1:0', TOLLGATE_ADMIN: '127.0.0.1:0' }
    const gateway = new Gateway(dir, { ...env, ...here })
    t.teardown(() => gateway.kill9().catch(() => undefined))
    await gateway.start()
    await gateway.headKnown(slug)
    const access = await createAccess(gateway, 'free', slug)
    t.match(await access.call(method, params), { result: expected }, slug)
  }
})
