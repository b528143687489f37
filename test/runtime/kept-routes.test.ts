import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Closing } from '../../src/runtime/closing.ts'
import { keepPaces } from '../../src/runtime/kept-routes.ts'
import { Heads } from '../../src/routes/heads.ts'
import { LiveRoute } from '../../src/routes/live-route.ts'
import { StateFile } from '../../src/stores/sqlite/state-file.ts'
import type { Route } from '../../src/snapshot/types.ts'

const network = { slug: 'eth', family: 'evm', maxLag: { unit: 'ms', value: 30_000 } } as const

const stateIn = (dir: string) =>
  new StateFile(dir, null, error => {
    t.error(error)
  })

function routes(): readonly LiveRoute[] {
  return ['a', 'b'].map(id => {
    const route = { id, network: 'eth', http: 'http://127.0.0.1:1', headers: {} }
    const limits = { inFlight: null, perSecond: null }
    return new LiveRoute({ ...route, limits } as unknown as Route, 1_000)
  })
}

t.test('bug: a new process took a route of a quick chain for one that is behind', async t => {
  const dir = t.testdir({})
  const before = new Heads()
  const first = new Closing()
  keepPaces(stateIn(dir), before, first)
  const [one, other] = routes()
  // A block a second.
  for (let second = 0; second < 60; second += 5)
    for (const live of [one!, other!])
      before.claim(network, live, 1_000 + second, [one!, other!], second * 1_000)
  await first.close()
  const heads = new Heads()
  const next = new Closing()
  keepPaces(stateIn(dir), heads, next)
  const [ahead, behind] = routes()
  heads.claim(network, ahead!, 2_006, [ahead!, behind!], 0)
  heads.claim(network, behind!, 2_000, [ahead!, behind!], 0)
  t.equal(heads.lagOf(network, behind!), 'none', 'six seconds are within maxLag')
  heads.claim(network, ahead!, 2_036, [ahead!, behind!], 30_000)
  t.not(heads.lagOf(network, behind!), 'none', 'thirty-six are not')
  await next.close()
  t.match(JSON.parse(readFileSync(join(dir, 'state.json'), 'utf8')), {
    gateway: null,
    paces: { eth: 1_000 },
  })
})

t.test('what is no pace is as none', async t => {
  const dir = t.testdir({ 'state.json': '{"paces":{"eth":-1,"base":"1"}}' })
  const closing = new Closing()
  keepPaces(stateIn(dir), new Heads(), closing)
  await closing.close()
  t.pass('it starts')
})
