import t from 'tap'
import type { EndpointChange } from '../../src/ports/endpoints.ts'
import { callService } from '../../src/management/call.ts'
import type { ServiceDeps } from '../../src/management/types.ts'
import { account, deps, endpoint, invalid, withKey } from './support/deps.ts'

const caller = { account, endpoint }
const notFound = {
  error: { code: -32004, message: 'Endpoint not found', data: { reason: 'endpoint_not_found' } },
}
const shown = {
  endpointId: 'ep_1',
  name: 'prod',
  chain: 'ethereum',
  status: 'active',
  apiKey: 'tg_key1',
  httpsUrl: 'https://ethereum-rpc.example.org/v1/rpc/tg_key1',
  wssUrl: 'wss://ethereum-rpc.example.org/v1/rpc/tg_key1',
}

t.test('service_createEndpoint', t => {
  const wishes: unknown[] = []
  const create = (
    params: unknown,
    answer: Awaited<ReturnType<ServiceDeps['endpoints']['create']>> = withKey,
  ) => {
    const create: ServiceDeps['endpoints']['create'] = wish => {
      wishes.push(wish)
      return Promise.resolve(answer)
    }
    return callService('service_createEndpoint', params, caller, deps({ endpoints: { create } }))
  }

  t.test('returns the new endpoint', async t => {
    const outcome = await create([{ chain: 'ethereum', name: 'prod' }])
    t.strictSame(outcome, { result: shown })
    t.equal(JSON.stringify(outcome), JSON.stringify({ result: shown }), 'the order of the fields too')
    t.strictSame(wishes.pop(), { accountId: 'acc_1', network: 'ethereum', name: 'prod' })
    await create({ chain: 'ethereum' })
    t.strictSame(wishes.pop(), { accountId: 'acc_1', network: 'ethereum' }, 'the store names it')
    await create({ chain: 'ethereum', labels: { team: 'wallet', old: null } })
    t.match(wishes.pop(), { labels: { team: 'wallet', old: undefined } }, 'there is nothing to take away')
  })

  t.test('takes what service_updateEndpoint changes', async t => {
    const restrictions = {
      status: 'inactive',
      management: true,
      allowedOrigins: ['https://a.example'],
      dailyLimit: 10,
      allowedIps: ['203.0.113.7'],
      perSecond: 2,
      expiresAt: 4_000_000_000,
    }
    await create({ chain: 'ethereum', ...restrictions })
    t.strictSame(wishes.pop(), { accountId: 'acc_1', network: 'ethereum', ...restrictions })
  })

  t.test('says that the chain is not supported', async t => {
    for (const chain of ['Ethereum', '', 'nope', '__proto__', 'constructor', 'toString']) {
      const outcome = await create([{ chain }])
      t.match(
        outcome,
        { error: { code: -32602, message: 'Invalid chain', data: { reason: 'invalid_params' } } },
        chain,
      )
    }
  })

  t.test('says what else is wrong', async t => {
    t.strictSame(await create([]), invalid('chain is required'))
    t.strictSame(await create([{ name: 'x' }]), invalid('chain is required'))
    for (const chain of [1, null, ['ethereum'], { slug: 'ethereum' }]) {
      t.strictSame(await create([{ chain }]), invalid('chain must be a string'))
    }
    for (const name of ['', 'x'.repeat(65), 'a\nb', 1, null]) {
      const outcome = await create([{ chain: 'ethereum', name }])
      t.strictSame(outcome, invalid('name must be 1 to 64 printable characters'))
    }
    t.match(await create([{ chain: 'ethereum', perSecond: 0, name: '', nope: 1 }]), {
      error: {
        message:
          'Invalid params: perSecond must be a whole number from 1 to 1000000, or null; name must be 1 to 64 printable characters; unknown parameter "nope"',
        data: {
          reason: 'invalid_params',
          wrong: [
            { member: 'perSecond', why: 'perSecond must be a whole number from 1 to 1000000, or null' },
            { member: 'name', why: 'name must be 1 to 64 printable characters' },
            { member: 'nope', why: 'unknown parameter "nope"' },
          ],
        },
      },
    })
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`x${i}`, 1]))
    t.match(await create([many]), { error: { message: /"x9"; and 20 more$/ } })
    const labels = { 'a b': 'x' }
    t.match(await create([{ chain: 'ethereum', labels }]), { error: { data: { why: /^labels must be/ } } })
    t.strictSame(wishes, [], 'and nothing is created')
  })

  t.test('says that the account is full', async t => {
    t.strictSame(await create([{ chain: 'ethereum' }], 'limit_reached'), {
      error: {
        code: -32003,
        message: 'Endpoint limit reached (100)',
        data: { reason: 'endpoint_limit', limit: 100 },
      },
    })
    t.match(await create([{ chain: 'ethereum' }], 'no_account'), {
      error: { data: { reason: 'invalid_key' } },
    })
  })

  t.end()
})

const open = {
  allowedOrigins: null,
  allowedIps: null,
  management: true,
  perSecond: null,
  dailyLimit: null,
  expiresAt: null,
  lastUsedAt: null,
  labels: {},
}

t.test('service_listEndpoints', async t => {
  const gone = { ...withKey, id: 'ep_2', network: 'removed', status: 'inactive', apiKey: 'tg_key2' } as const
  const ports = deps({
    endpoints: { list: id => (id === 'acc_1' ? [withKey, gone] : []) },
    usage: { totals: id => new Map(id === 'acc_1' ? [['ep_1', { calls: 2, requests: 21 }]] : []) },
  })
  const outcome = await callService('service_listEndpoints', [], caller, ports)
  const expected = {
    total: 2,
    endpoints: [
      { ...shown, requestCount: 21, ruConsumed: 21, createdAt: 1_700_000_000, callCount: 2, ...open },
      {
        endpointId: 'ep_2',
        name: 'prod',
        chain: 'removed',
        status: 'inactive',
        apiKey: 'tg_key2',
        httpsUrl: '',
        wssUrl: '',
        requestCount: 0,
        ruConsumed: 0,
        createdAt: 1_700_000_000,
        callCount: 0,
        ...open,
      },
    ],
  }
  t.strictSame(outcome, { result: expected })
  t.equal(JSON.stringify(outcome), JSON.stringify({ result: expected }), 'the order of the fields too')

  const without: any = await callService('service_listEndpoints', [{ keys: false }], caller, ports)
  t.notMatch(JSON.stringify(without), /tg_key/, 'no key when none is asked for')
  t.hasStrict(without.result.endpoints[0], {
    endpointId: 'ep_1',
    keyHint: 'key1',
    httpsUrl: 'https://ethereum-rpc.example.org/v1/rpc/<API_KEY>',
    requestCount: 21,
  })
  t.notOk('apiKey' in without.result.endpoints[0])
})

t.test('service_getEndpoint', async t => {
  const ports = deps({
    endpoints: { find: (account, id) => (account === 'acc_1' && id === 'ep_1' ? withKey : null) },
    usage: { totals: () => new Map([['ep_1', { calls: 2, requests: 21 }]]) },
  })
  const get = (params: unknown) => callService('service_getEndpoint', params, caller, ports)
  t.strictSame(await get([{ endpointId: 'ep_1' }]), {
    result: {
      ...shown,
      requestCount: 21,
      ruConsumed: 21,
      createdAt: 1_700_000_000,
      callCount: 2,
      ...open,
    },
  })
  t.strictSame(await get([{ endpointId: 'ep_2' }]), notFound)
  t.strictSame(await get([]), invalid('endpointId is required'))
})

t.test('service_deleteEndpoint', async t => {
  const asked: unknown[] = []
  const removed: ServiceDeps['endpoints']['remove'] = (accountId, id) => {
    asked.push([accountId, id])
    return Promise.resolve(id === 'ep_1' ? endpoint : null)
  }
  const remove = (params: unknown) =>
    callService('service_deleteEndpoint', params, caller, deps({ endpoints: { remove: removed } }))
  t.strictSame(await remove([{ endpointId: 'ep_1' }]), { result: { deleted: true, endpointId: 'ep_1' } })
  t.strictSame(await remove([{ endpointId: 'ep_2' }]), notFound)
  t.strictSame(asked, [
    ['acc_1', 'ep_1'],
    ['acc_1', 'ep_2'],
  ])
  t.strictSame(await remove([]), invalid('endpointId is required'))
  t.strictSame(await remove([{ endpointId: 7 }]), invalid('endpointId must be a string'))
  t.strictSame(await remove(['ep_1']), invalid('params must hold one object or be empty'))
})

t.test('service_updateEndpoint', t => {
  const asked: unknown[] = []
  const changed: ServiceDeps['endpoints']['change'] = (accountId, id, change: EndpointChange) => {
    asked.push([accountId, id, change])
    const { labels = {}, ...others } = change
    if (Object.keys(labels).length > 9) return Promise.resolve('too_many_labels' as const)
    const kept = Object.entries(labels).filter((each): each is [string, string] => each[1] !== null)
    return Promise.resolve(id === 'ep_1' ? { ...withKey, ...others, labels: Object.fromEntries(kept) } : null)
  }
  const update = (params: unknown) =>
    callService('service_updateEndpoint', params, caller, deps({ endpoints: { change: changed } }))
  const change = (member: object) => update([{ endpointId: 'ep_1', ...member }])

  t.test('returns the endpoint with what may be changed of it', async t => {
    const wanted = {
      name: 'neu',
      status: 'inactive',
      allowedOrigins: ['https://app.example.org'],
      allowedIps: ['203.0.113.7'],
      management: false,
      perSecond: 5,
      dailyLimit: 10_000,
      labels: { team: 'wallet', stage: '' },
    }
    const outcome = await change(wanted)
    const times = { expiresAt: null, lastUsedAt: null }
    const { labels, ...members } = wanted
    const expected = { ...shown, createdAt: 1_700_000_000, ...members, ...times, labels }
    t.strictSame(outcome, { result: expected })
    t.strictSame(asked.pop(), ['acc_1', 'ep_1', wanted])
    t.match(await change({ allowedOrigins: null, allowedIps: null, perSecond: null }), {
      result: { allowedOrigins: null, allowedIps: null, perSecond: null },
    })
    await change({})
    t.strictSame(asked.pop(), ['acc_1', 'ep_1', {}], 'what is not said is not touched')
  })

  t.test('does not know the endpoints of others', async t => {
    t.strictSame(await update([{ endpointId: 'ep_2', name: 'x' }]), notFound)
  })

  t.test('puts origins and addresses in normal form, once each', async t => {
    const origins = [
      'https://App.Example.org:443',
      'https://app.example.org',
      'http://localhost:3000',
      'https://ü.de',
    ]
    t.match(await change({ allowedOrigins: [...origins, 'Chrome-Extension://Abc', 'http://[::1]:80'] }), {
      result: {
        allowedOrigins: [
          'https://app.example.org',
          'http://localhost:3000',
          'https://xn--tda.de',
          'chrome-extension://abc',
          'http://[::1]',
        ],
      },
    })
    const ips = [
      '203.0.113.7',
      '::ffff:203.0.113.7',
      '10.1.2.3/8',
      '::ffff:10.0.0.0/104',
      '2001:DB8::1/32',
      '::1',
      '0.0.0.0/0',
    ]
    t.match(await change({ allowedIps: ips }), {
      result: { allowedIps: ['203.0.113.7', '10.0.0.0/8', '2001:db8::/32', '::1', '0.0.0.0/0'] },
    })
  })

  t.test('says what is wrong', async t => {
    asked.length = 0
    t.strictSame(await update([{ name: 'x' }]), invalid('endpointId is required'))
    t.strictSame(await change({ name: ' ' }), invalid('name must be 1 to 64 printable characters'))
    t.strictSame(await change({ status: 'deleted' }), invalid('status must be "active" or "inactive"'))
    t.strictSame(await change({ management: 'no' }), invalid('management must be true or false'))
    t.strictSame(await change({ apiKey: 'tg_mine' }), invalid('unknown parameter "apiKey"'))
    for (const perSecond of [0, -1, 1.5, 1e9, '5', true]) {
      const why = 'perSecond must be a whole number from 1 to 1000000, or null'
      t.strictSame(await change({ perSecond }), invalid(why), String(perSecond))
    }

    for (const dailyLimit of [0, -1, 1.5, 2 ** 53, '5', true]) {
      const why = 'dailyLimit must be a whole number of request units, at least 1, or null'
      t.strictSame(await change({ dailyLimit }), invalid(why), String(dailyLimit))
    }

    const badLabels = [
      ['x'],
      'x',
      null,
      { 'no space': 'x' },
      { x: 1 },
      { x: 'a\nb' },
      { x: 'y'.repeat(65) },
      { '': 'x' },
      Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`l${i}`, 'x'])),
    ]
    for (const labels of badLabels)
      t.match(await change({ labels }), {
        error: {
          message: /labels must be an object of at most 10 strings of at most 64 printable characters/,
        },
      })
    const ten = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`l${i}`, 'x']))
    t.strictSame(await change({ labels: ten }), invalid('an endpoint has at most 10 labels'))
    asked.length = 0

    const badOrigins = [
      'https://a.org/',
      'https://a.org/x',
      'a.org',
      '*',
      'null',
      'https://*.a.org',
      'https://u@a.org',
    ]
    badOrigins.push(
      'https://a.org?',
      'https://a.org#',
      'https://',
      'https://a b',
      'https://a.org\n',
      'https://a:99999',
    )
    for (const origin of [...badOrigins, `https://${'x'.repeat(300)}`, 7, null]) {
      const why =
        'allowedOrigins must be null or a list of 1 to 100 origins such as "https://app.example.org", without a path; item 1 is not'
      t.strictSame(
        await change({ allowedOrigins: ['https://ok.org', origin] }),
        invalid(why),
        JSON.stringify(origin),
      )
    }
    const badIps = [
      'localhost',
      '',
      '1',
      '010.0.0.1',
      '0x7f.1',
      '256.1.1.1',
      '1.2.3.4/33',
      '1.2.3.4/',
      '/8',
      '1.2.3.4/08',
    ]
    badIps.push(
      '1.2.3.4/8/8',
      '::/129',
      'fe80::1%eth0',
      '::ffff:010.0.0.1',
      '::ffff:1.2.3.4/90',
      ' 1.2.3.4',
      '[::1]',
    )
    for (const ip of [...badIps, 7, null]) {
      const why =
        'allowedIps must be null or a list of 1 to 100 IP addresses and CIDRs such as "203.0.113.7" and "2001:db8::/32"; item 0 is not'
      t.strictSame(await change({ allowedIps: [ip] }), invalid(why), JSON.stringify(ip))
    }
    for (const list of [[], {}, 'x', Array(101).fill('10.0.0.1')]) {
      t.match(await change({ allowedIps: list }), {
        error: { code: -32602, message: /^Invalid params: allowedIps must be null or a list of 1 to 100 / },
      })
    }
    t.strictSame(asked, [], 'and nothing is changed')
  })

  t.end()
})
