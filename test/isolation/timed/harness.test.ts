import t from 'tap'
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../support/until.ts'
import { usual } from '../harness/bounds.ts'
import { stalledWithin, union } from '../harness/clock.ts'
import { connectionsTo } from '../harness/connections.ts'
import { findingsOf, isWorthAnotherPlay } from '../harness/findings.ts'
import { p99, type Seen } from '../harness/seen.ts'
import { Ending, openStage } from '../harness/stage.ts'
import { play, type Scenario } from '../harness/scenario.ts'

t.test('stalls are joined, and counted within a stretch of time', t => {
  const stalls = union([
    [20, 30],
    [0, 5],
    [25, 40],
    [60, 70],
  ])
  t.same(stalls, [
    [0, 5],
    [20, 40],
    [60, 70],
  ])
  t.equal(stalledWithin(4, 65, stalls), 1 + 20 + 5)
  t.equal(stalledWithin(41, 59, stalls), 0)
  t.equal(stalledWithin(30, 31, stalls), 1)
  t.end()
})

t.test('the 99th percentile', t => {
  const hundred = Array.from({ length: 100 }, (_, i) => 100 - i)
  t.equal(p99(hundred), 99)
  t.equal(p99([3, 1, 2]), 3)
  t.equal(p99([]), 0)
  t.end()
})

t.test('what a play showed is not forgotten when the scenario is played again for its times', t => {
  const good: Seen = {
    quiet: 5,
    attacked: 10,
    calls: 100,
    refused: {},
    wrong: [],
    routes: { 'alpha-a': 100 },
    heads: null,
    busy: 10,
    peak: 150,
    memory: 20,
    connections: 0,
  }
  const late: Seen = { ...good, attacked: 100, busy: 150 }
  const broken = (...plays: Seen[]) => findingsOf(plays, usual).filter(({ kept }) => !kept)
  t.same(broken(good), [])
  t.equal(broken(late).length, 2)
  t.same(broken(late, good), [], 'times are those of the best play')
  t.same(broken(good, late), [])
  t.same(broken({ ...good, attacked: 100 }, { ...good, busy: 150 }), [], 'each for itself')
  t.equal(broken(late, late).length, 2)
  const faults: Partial<Seen>[] = [
    { refused: { overloaded: 1 } },
    { wrong: ['no answer'] },
    { routes: { 'alpha-c': 1 } },
    { heads: '1,3' },
    { memory: 1_000 },
    { connections: 1 },
  ]
  for (const fault of faults) {
    t.equal(broken({ ...late, ...fault }, good).length, 1, JSON.stringify(fault))
    t.equal(broken(late, { ...good, ...fault }).length, 1)
    t.notOk(isWorthAnotherPlay([{ ...late, ...fault }], usual))
  }
  t.ok(isWorthAnotherPlay([late], usual))
  t.ok(isWorthAnotherPlay([late, late], usual))
  t.notOk(isWorthAnotherPlay([late, late, late], usual))
  t.notOk(isWorthAnotherPlay([good], usual))
  t.notOk(isWorthAnotherPlay([{ ...good, busy: 4 * usual.busy }], usual), 'that is no chance')
  const elsewhere: Seen = { ...good, quiet: 263, attacked: 525 }
  t.ok(isWorthAnotherPlay([elsewhere], usual), 'the machine was busy before the attack too')
  t.ok(isWorthAnotherPlay([elsewhere, elsewhere, elsewhere, late, late], usual))
  t.notOk(isWorthAnotherPlay([elsewhere, late, late, late], usual))
  t.notOk(isWorthAnotherPlay(Array<Seen>(8).fill(elsewhere), usual), 'it has to end')
  t.equal(broken(elsewhere).length, 1, 'and is judged then')
  t.end()
})

t.test('what was done to the gateway is seen', async t => {
  const ending = new Ending()
  t.teardown(() => ending.end())
  const stage = await openStage(ending)

  await t.test('a gateway that stands still, a call that is lost, a connection that stays', async t => {
    const sockets = await connectionsTo(stage.gateway.port)
    let left: Socket | undefined
    const stopped: Scenario = {
      name: 'SIGSTOP',
      attack: async () => {
        left = connect(stage.gateway.port, '127.0.0.1')
        await once(left, 'connect')
        const [node] = stage.nodes.evm
        const healthy = node!.handler('web3_sha3')!
        for (const one of stage.nodes.evm)
          one.on('web3_sha3', (_, response) => {
            response.writeHead(200).end('{"jsonrpc":"2.0","id":1,"result":"no"}')
          })
        await pause(200)
        for (const one of stage.nodes.evm) one.on('web3_sha3', healthy)
        stage.gateway.signal('SIGSTOP')
        await pause(400)
        stage.gateway.signal('SIGCONT')
      },
    }
    let { seen } = await play(stage, stopped)
    // A process that has no CPU all the while is not stopped before it may go on.
    for (let again = 0; again < 4 && seen.busy <= 200; again += 1) {
      left?.destroy()
      ;({ seen } = await play(stage, stopped))
    }
    t.ok(seen.attacked > 200, `${seen.attacked} ms`)
    t.ok(seen.busy > 200, `its loop did not turn for ${seen.busy} ms`)
    t.ok(seen.wrong.length + Object.keys(seen.refused).length > 0, 'wrong answers are seen')
    t.equal(seen.connections, 1, 'a connection that stays is seen')
    left?.destroy()
    await until('it is closed', async () => (await connectionsTo(stage.gateway.port)) === sockets)
  })
})
