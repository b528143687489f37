/** What `account create` prints for a person. */
import { execFileSync } from 'node:child_process'
import t from 'tap'
import { message } from '../support/access.ts'
import { run, runJson } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  methods: fewMethods,
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
})

t.test('the last line puts the key into a variable of the shell, and the gateway takes it', async t => {
  const { code, stdout } = await run(['account', 'create', 'acme', '--plan', 'paid', '--config', gateway.dir])
  t.equal(code, 0)
  const last = stdout.trimEnd().split('\n').at(-1)!
  t.match(last, /^export KEY=tg_[0-9A-Za-z]{38}$/)
  const key = execFileSync('sh', ['-c', `${last}\nsh -c 'printf %s "$KEY"'`], { encoding: 'utf8' })
  t.ok(stdout.includes(`/v1/rpc/${key}\n`), 'the key of the URL')
  const reply = await gateway.send({ path: `/alpha/v1/rpc/${key}`, body: message('web3_sha3', ['0x00']) })
  t.equal(reply.status, 200)
})

t.test('a WebSocket URL is printed only where a route has WebSocket', async t => {
  const ws = 'ws://127.0.0.1:1'
  const networks = {
    plain: { chainId: 1 },
    sockets: { chainId: 2 },
    beacon: { family: 'http' as const, chainId: 'mainnet' },
  }
  const gateway = await startGateway(t, {
    networks,
    methods: `${fewMethods}  http:\n    "GET /eth/v1/node/version": {}\n`,
    routes: Object.keys(networks).map(network => ({
      id: `${network}-a`,
      network,
      http: 'http://127.0.0.1:1',
      ...(network === 'sockets' ? { ws } : {}),
    })),
  })
  for (const chain of Object.keys(networks)) {
    const has = chain === 'sockets'
    const args = ['account', 'create', 'acme', '--plan', 'paid', '--chain', chain, '--config', gateway.dir]
    const { stdout } = await run(args)
    t.equal(/^WSS? /m.test(stdout), has, `account create on ${chain}`)
    t.equal(stdout.includes('ws://'), has)
    const id = /acc_\w+/.exec(stdout)![0]
    const more = await run(['endpoint', 'create', '--account', id, '--chain', chain, '--config', gateway.dir])
    t.equal(/^WSS? /m.test(more.stdout), has, `endpoint create on ${chain}`)
    const { endpoints } = await runJson(gateway.dir, ['endpoint', 'list', '--account', id])
    for (const { wssUrl } of endpoints)
      t.match(wssUrl, has ? /^ws:\/\/\S+\/v1\/rpc\/tg_/ : /^$/, `listed on ${chain}`)
    const key = /KEY=(\S+)/.exec(stdout)![1]!
    const body = message('service_supportedNetworks')
    const reply = await gateway.send({ path: `/${chain}/v1/rpc/${key}`, body })
    const served: any[] = JSON.parse(reply.text).result.networks
    for (const { slug, wss, wssEndpoint } of served)
      t.strictSame([wss, wssEndpoint !== ''], [slug === 'sockets', slug === 'sockets'], slug)
  }
})

t.test('a name that another account has is told, and is no argument of commands', async t => {
  const { dir } = gateway
  const create = (...more: string[]) =>
    run(['account', 'create', 'twin', '--plan', 'paid', ...more, '--config', dir])
  const idOf = ({ stdout }: { stdout: string }) => /acc_\w+/.exec(stdout)![0]
  const one = await create()
  t.notMatch(one.stderr, 'warning')
  const first = idOf(one)
  const suspend = (id: string) => run(['account', 'suspend', id, '--config', dir])
  const alone = await suspend('twin')
  t.match(alone, { code: 1, stderr: `there is no account "twin"; the account of that name is ${first}\n` })
  const two = await create()
  t.match(two, { code: 0, stderr: `tollgate: warning: another account has the name "twin": ${first}\n` })
  const second = idOf(two)
  const both = `2 accounts have that name: ${first}, ${second}`
  const three = await create('--json')
  t.match(three.stderr, `warning: 2 other accounts have the name "twin": ${first}, ${second}\n`)
  t.match(JSON.parse(three.stdout), { name: 'twin' })
  const third = (JSON.parse(three.stdout) as { accountId: string }).accountId
  for (const args of [
    ['account', 'suspend', 'twin'],
    ['account', 'set-plan', 'twin', 'free'],
    ['account', 'rotate-token', 'twin'],
    ['endpoint', 'list', '--account', 'twin'],
    ['endpoint', 'create', '--account', 'twin', '--chain', 'alpha'],
    ['endpoint', 'move', '--account', 'twin', '--from', 'beta', '--to', 'alpha'],
  ]) {
    const { code, stderr } = await run([...args, '--config', dir])
    t.equal(code, 1, args.join(' '))
    t.match(stderr, `there is no account "twin"; ${both.replace('2', '3')}, ${third}\n`)
  }
})

t.test('a plan or network that is not there gets a suggestion', async t => {
  const { dir } = gateway
  const { accountId } = await runJson(dir, ['account', 'create', 'slips', '--plan', 'paid'])
  const cases: [args: string[], said: string][] = [
    [
      ['account', 'create', 'x', '--plan', 'paid', '--chain', 'alhpa'],
      'there is no network "alhpa"; did you mean "alpha"?',
    ],
    [['account', 'create', 'x', '--plan', 'piad'], 'there is no plan "piad"; did you mean "paid"?'],
    [['account', 'set-plan', accountId, 'piad'], 'there is no plan "piad"; did you mean "paid"?'],
    [
      ['account', 'set-plan', accountId, 'public'],
      'the plan "public" is that of callers without a key; accounts have another one',
    ],
    [
      ['endpoint', 'create', '--account', accountId, '--chain', 'alhpa'],
      'there is no network "alhpa"; did you mean "alpha"?',
    ],
    [
      ['endpoint', 'create', '--account', accountId, '--chain', 'zzzzz'],
      'there is no network "zzzzz"; there is only alpha',
    ],
  ]
  for (const [args, said] of cases)
    t.match(await run([...args, '--config', dir]), { code: 1, stderr: `tollgate: ${said}\n` }, args.join(' '))
})
