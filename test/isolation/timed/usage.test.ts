import t from 'tap'
import { readFile } from 'node:fs/promises'
import { runJson } from '../../support/cli.ts'
import { message } from '../../support/access.ts'
import { playAll } from '../harness/scenario.ts'
import { stockUsage } from '../harness/stock-usage.ts'

/** Seconds of CPU that a process has used. */
async function cpuSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'latin1')).split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

const batch = (method: (i: number) => string) =>
  `[${Array.from({ length: 100 }, (_, i) => message(method(i), [], i)).join()}]`

await playAll(
  t,
  [
    {
      name: 'a month of usage of a hundred endpoints, again and again',
      attack: async stage => stage.attack('usage', 'pages', { ms: 1_500 }),
      bounds: { busy: 50 },
      also: (t, _, { answered }) => {
        t.ok(answered > 0, 'the owner gets pages')
      },
    },
    {
      name: 'refused calls by the ten thousand',
      attack: async stage => {
        const options = { path: 'free', ms: 500, connections: 3 }
        const bodies = [
          batch(i => `eth_unknown${i}`),
          batch(() => 'eth_getBalance'),
          batch(() => 'eth_chainId'),
          message('eth_chainId'),
        ]
        const seen: Record<string, number>[] = []
        for (const body of bodies)
          seen.push(await stage.attack<Record<string, number>>('calls', 'flood', { ...options, body }))
        return seen
      },
      also: async (t, stage, seen: Record<string, number>[]) => {
        const all = seen.flatMap(one => Object.values(one)).reduce((sum, count) => sum + count, 0)
        t.ok(all > 1_000, `${all} calls`)
        const args = ['usage', '--account', stage.free.accountId, '--by', 'hour']
        const rows = await runJson(stage.gateway.dir, args)
        t.ok(rows.length <= 10, `${rows.length} rows in the ledger`)
      },
    },
    {
      name: 'calls that cost nothing',
      attack: async stage =>
        stage.attack('calls', 'flood', {
          path: 'public',
          ms: 1_500,
          body: message('service_supportedNetworks'),
        }),
      also: (t, _, seen) => {
        t.ok(seen['"result":'] <= 30 + 10 * 3, `${seen['"result":']} were answered`)
        t.ok(seen['"reason":"rate_limited"'] > 0, 'the others are refused')
      },
    },
    {
      name: 'a key with a hundred address ranges',
      attack: async stage => {
        const body = message('eth_nothing')
        const flood = async () => {
          const before = await cpuSeconds(stage.gateway.pid)
          const seen = await stage.attack<Record<string, number>>('calls', 'flood', {
            path: 'free',
            body,
            ms: 700,
            connections: 8,
          })
          const calls = seen['"reason":"method_not_found"'] ?? 0
          return { calls, microseconds: (((await cpuSeconds(stage.gateway.pid)) - before) / calls) * 1e6 }
        }
        const plain = await flood()
        const ranges = Array.from({ length: 99 }, (_, i) => `10.${i}.0.0/16`)
        await stage.free.managed('service_updateEndpoint', [
          { endpointId: stage.free.endpointId, allowedIps: [...ranges, '127.0.0.0/8'], management: true },
        ])
        return { plain, ranged: await flood() }
      },
      also: (t, _, { plain, ranged }) => {
        t.ok(ranged.calls > 100, `${ranged.calls} calls`)
        t.ok(
          ranged.microseconds < 2 * plain.microseconds + 50,
          `${ranged.microseconds} µs, ${plain.microseconds} without`,
        )
      },
    },
  ],
  { stock: stockUsage },
)
