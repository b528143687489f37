import t from 'tap'
import { randomInt } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { createAccess } from '../support/accounts.ts'
import { total } from '../support/client-ledger.ts'
import { allCapabilities } from '../support/config-files.ts'
import { startGateway } from '../support/gateway.ts'
import { LoadedAccess, mixedMethods } from '../support/ledger-load.ts'
import { meteredByMethod } from '../support/metered.ts'
import { metric } from '../support/metrics.ts'
import { Random } from '../support/random.ts'
import { startNode } from '../support/scripted-node.ts'
import { crewOf, isAlive, kill9 } from '../support/workers.ts'
import type { Crew } from '../support/workers.ts'
import { until } from '../support/until.ts'

const WORKERS = 3
/** `KILLS=100` for a long run. */
const rounds = Number(process.env['KILLS'] ?? 5)
const posting = 12

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, capabilities: allCapabilities }],
  methods: mixedMethods,
  gateway: { workers: WORKERS, cache: {} },
})
const random = new Random(randomInt(2 ** 32))
const account = new LoadedAccess(await createAccess(gateway, 'paid', 'alpha'), random)

/** What is killed, and whether the gateway has to be started again. */
const victims: Readonly<Record<string, (crew: Crew) => readonly number[]>> = {
  'a worker': ({ workers }) => [random.pick(workers)],
  'the keeper': ({ keeper }) => [keeper],
  'a worker and the keeper': ({ workers, keeper }) => [keeper, random.pick(workers)],
  'all workers': ({ workers }) => workers,
  everything: ({ workers, keeper }) => [gateway.pid, keeper, ...workers],
}

/** Sends as fast as answers come; kills behind so many, goes on for as many more where something is left that serves. */
async function killUnderLoad(pids: readonly number[], answers: number, goesOnBehind: boolean): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  const { ledger } = account
  const begin = ledger.heard
  let isKilled = false
  const goesOn = (): boolean => {
    if (!isKilled && ledger.heard >= begin + answers) {
      isKilled = true
      for (const pid of pids) kill9(pid)
    }
    return !isKilled || (goesOnBehind && ledger.heard < begin + 2 * answers)
  }
  await Promise.all(
    Array.from({ length: posting }, async () => {
      while (goesOn()) await account.post(account.message(), agent)
    }),
  )
  agent.destroy()
}

t.test(
  'whatever is killed, what was acknowledged is metered, and no more than what was in flight',
  async t => {
    t.comment(`seed ${random.seed}`)
    const names = Object.keys(victims)
    for (let round = 0; round < rounds; round++) {
      const name = names[round % names.length]!
      const isAll = name === 'everything'
      const crew = await crewOf(gateway, WORKERS)
      const counted = await metric(gateway, 'tollgate_requests_total')
      const answers = 20 + random.below(200)
      await killUnderLoad(victims[name]!(crew), answers, !isAll)
      if (isAll) {
        await gateway.exited
        await gateway.start()
      }
      const begin = performance.now()
      const now = await crewOf(gateway, WORKERS)
      t.comment(`${name}: all are back in ${Math.round(performance.now() - begin)} ms`)
      if (!isAll)
        t.ok((await metric(gateway, 'tollgate_requests_total')) >= counted, 'no counter has gone back')
      const { access, ledger } = account
      const where = `round ${round}, ${name} behind ${answers} answers`
      // A journal that a killed worker has left is taken over within a second.
      const journals = () =>
        readdirSync(join(gateway.dir, 'data')).filter(file => /^journal-.*\.db$/.test(file))
      await until('only the workers of now have journals', () =>
        Promise.resolve(journals().length === WORKERS),
      )
      const metered = await meteredByMethod(access)
      t.strictSame(await access.usage(), total(metered), `the listing is the sum of the rows; ${where}`)
      for (const method of new Set([...metered.keys(), ...ledger.told.keys()])) {
        const none = { calls: 0, requests: 0 }
        const is = metered.get(method) ?? none
        const sure = ledger.told.get(method) ?? none
        const unsure = ledger.unheard.get(method) ?? none
        const within = (name: 'calls' | 'requests') =>
          is[name] >= sure[name] && is[name] <= sure[name] + unsure[name]
        if (!within('calls') || !within('requests'))
          t.fail(`${JSON.stringify({ method, is, sure, unsure })}; ${where}`)
      }
      ledger.settle(metered)
      for (const pid of victims[name]!(crew).length > 0 && isAll ? [crew.keeper, ...crew.workers] : [])
        t.notOk(isAlive(pid) && [now.keeper, ...now.workers].includes(pid), 'others serve now')
    }
    t.ok(account.ledger.everUnheard > 0, `calls were in flight: ${account.ledger.everUnheard}`)
    const hashed = account.ledger.told.get('web3_sha3')?.calls ?? 0
    const asked = node.count('web3_sha3')
    t.ok(hashed > 5 * asked, `most answers to web3_sha3 were kept ones: ${hashed}, ${asked} from the node`)
  },
)
