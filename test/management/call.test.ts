import t from 'tap'
import { callService, isPublicService, isService } from '../../src/management/call.ts'
import { account, deps, endpoint, invalid } from './support/deps.ts'

const METHODS = [
  'service_supportedNetworks',
  'service_createEndpoint',
  'service_listEndpoints',
  'service_updateEndpoint',
  'service_deleteEndpoint',
  'service_account',
  'service_usage',
]

t.test('the management methods are these, and one is public', t => {
  for (const method of METHODS) t.ok(isService(method), method)
  for (const method of [
    'service_',
    'service_nothing',
    'Service_account',
    'eth_call',
    '__proto__',
    'constructor',
    '',
  ]) {
    t.notOk(isService(method), method)
    t.notOk(isPublicService(method), method)
  }
  t.strictSame(METHODS.filter(isPublicService), ['service_supportedNetworks'])
  t.end()
})

t.test('any other method is none', async t => {
  t.equal(await callService('service_nothing', [], { account, endpoint }, deps()), null)
  t.equal(await callService('__proto__', [], { account, endpoint }, deps()), null)
})

t.test('without an account only the public one is there', async t => {
  for (const method of METHODS) {
    const outcome = await callService(method, [], null, deps())
    if (method === 'service_supportedNetworks') t.match(outcome, { result: { networks: [] } })
    else t.equal(outcome, null, method)
  }
})

t.test('parameters that no method takes', async t => {
  const one = 'params must hold one object or be empty'
  const wrong: [unknown, string][] = [
    [[{}, {}], one],
    [[1], one],
    [[null], one],
    [['x'], one],
    [[[]], one],
    [[[{}]], one],
    ['x', one],
    [1, one],
    [true, one],
    [[{ nope: 1 }], 'unknown parameter "nope"'],
    [{ nope: 1 }, 'unknown parameter "nope"'],
    [JSON.parse('[{"__proto__": {"chain": "ethereum"}}]'), 'unknown parameter "__proto__"'],
    [[{ constructor: 1 }], 'unknown parameter "constructor"'],
    [[{ ['x'.repeat(1000)]: 1 }], `unknown parameter "${'x'.repeat(64)}…"`],
  ]
  for (const method of METHODS) {
    for (const [params, why] of wrong) {
      t.strictSame(
        await callService(method, params, { account, endpoint }, deps()),
        invalid(why),
        `${method} ${why}`,
      )
    }
  }
})

t.test('a method without parameters takes every way of giving none', async t => {
  for (const params of [undefined, null, [], [{}], {}]) {
    t.match(await callService('service_supportedNetworks', params, null, deps()), {
      result: { networks: [] },
    })
  }
})

t.test('a dashboard session calls without an endpoint', async t => {
  const ports = deps({ endpoints: { list: () => [] }, usage: { totals: () => new Map() } })
  t.strictSame(await callService('service_listEndpoints', [], { account }, ports), {
    result: { total: 0, endpoints: [] },
  })
})
