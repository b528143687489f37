import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 }, beta: { chainId: 1002 } },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url },
    { id: 'beta-a', network: 'beta', http: node.url },
  ],
  methods: 'families: { evm: { eth_chainId: { answer: chainId } } }\n',
})
await createAccess(gateway, 'free', 'beta')
const taken = createServer().listen(0, '127.0.0.1')
await once(taken, 'listening')
t.teardown(() => taken.close())
const busy = `127.0.0.1:${(taken.address() as AddressInfo).port}`

interface Case {
  readonly name: string
  readonly file: string
  readonly edit: (text: string) => string
  /** What is told of it; of a warning it is accepted. */
  readonly told: RegExp | null
  readonly refused: boolean
}

const cases: readonly Case[] = [
  {
    name: 'a key that is none',
    file: 'plans.yaml',
    edit: text => `${text}\ncolour: red\n`,
    told: /plans\.yaml:\d+:1 colour: unknown key/,
    refused: true,
  },
  {
    name: 'a plan that an account has is gone',
    file: 'plans.yaml',
    edit: text => text.replace(/\bfree"?:/, match => match.replace('free', 'gratis')),
    told: /plans\.yaml:\d+:\d+ plans: accounts use a plan that is not here: "free"; move them to another plan first/,
    refused: true,
  },
  {
    name: 'a plan that nobody has is gone',
    file: 'plans.yaml',
    edit: text => text.replace(/\bpaid"?:/, match => match.replace('paid', 'gold')),
    told: null,
    refused: false,
  },
  {
    name: 'a network that endpoints are on has another name',
    file: 'networks.yaml',
    edit: text => text.replace(/\bbeta"?:/, match => match.replace('beta', 'gamma')),
    told: /networks\.yaml:\d+:\d+ networks: warning: 1 endpoint is on the network "beta", which is not here; tollgate endpoint move --from beta --to <network> takes it to another one/,
    refused: false,
  },
  {
    name: 'an address that another process holds',
    file: 'gateway.yaml',
    edit: text => text.replace(/("?listen"?: *)"?127\.0\.0\.1:0"?/, `$1"${busy}"`),
    told: new RegExp(`gateway\\.yaml:\\d+:\\d+ listen: cannot listen on ${busy}: the port is in use`),
    refused: true,
  },
  {
    name: 'a certificate that is not there',
    file: 'gateway.yaml',
    edit: text => withKey(text, 'tls', '{ cert: none.pem, key: none.pem }'),
    told: /gateway\.yaml:\d+:\d+ tls\.cert: /,
    refused: true,
  },
]

function withKey(text: string, name: string, value: string): string {
  return text.trimStart().startsWith('{')
    ? text.replace('{', `{ "${name}": ${value},`)
    : `${text}\n${name}: ${value}\n`
}

for (const { name, file, edit, told, refused } of cases)
  t.test(`${name}: a reload, check --data and a start say the same`, async t => {
    const path = join(gateway.dir, file)
    const good = await readFile(path, 'utf8')
    const bad = edit(good)
    t.not(bad, good)
    // Two files name the network that is renamed.
    const routes = join(gateway.dir, 'routes.yaml')
    const ways = await readFile(routes, 'utf8')
    await writeFile(path, bad)
    if (file === 'networks.yaml') await writeFile(routes, ways.replaceAll(/\bbeta\b(?!-)/g, 'gamma'))
    try {
      const reload = await fetch(`${gateway.adminUrl}/reload`, { method: 'POST' })
      const { ok, problems } = (await reload.json()) as { ok: boolean; problems: { file: string }[] }
      t.same({ status: reload.status, ok }, refused ? { status: 422, ok: false } : { status: 200, ok: true })
      const beside = await run(['check', '--data', '--config', gateway.dir])
      t.equal(beside.code, refused ? 1 : 0, 'beside the running gateway')
      await gateway.stop()
      const alone = await run(['check', '--data', '--config', gateway.dir])
      t.equal(alone.code, refused ? 1 : 0, 'without it')
      if (refused) {
        const { code, stdout, stderr } = await run(['serve', '--config', gateway.dir])
        t.equal(code, 1)
        if (name.startsWith('an address')) t.match(stderr, `cannot listen on ${busy}: the port is in use`)
        else t.match(stdout + stderr, told!)
      } else {
        await gateway.start()
        if (told !== null)
          t.match(gateway.printed, told.source.includes('endpoint') ? 'which is not here' : told)
      }
      if (told !== null) {
        t.match(beside.stdout, told)
        t.match(alone.stdout, told)
        t.ok(problems.some(problem => problem.file === file))
      } else t.same(problems, [])
    } finally {
      await writeFile(path, good)
      await writeFile(routes, ways)
      await gateway.stop().catch(() => undefined)
      await gateway.start()
    }
  })
