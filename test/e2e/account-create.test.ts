/** What `account create` prints for a person. */
import { execFileSync } from 'node:child_process'
import t from 'tap'
import { message } from '../support/access.ts'
import { run } from '../support/cli.ts'
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
