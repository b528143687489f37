/** What is kept, across edits of the YAML. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { metric } from '../support/metrics.ts'
import { echo, held } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'

/** Calls of one batch that are in flight at a time: those behind them begin as these are answered. */
const IN_FLIGHT = 32

const chainId = 1001
const node = (await startNode(t, { chainId })).otherwise(echo)
const methods = (edited: string): string => `families:
  evm:
    test_held: { params: [1, 1], retry: safe }
    test_edited: { params: [1, 1], retry: safe, ${edited} }
`
const gateway = await startGateway(t, {
  networks: { alpha: { chainId } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: methods('cache: [fixed]'),
  gateway: { cache: {} },
})
const access = await createAccess(gateway, 'paid', 'alpha')

/** Edits a file and serves it. */
async function edit(name: string, change: (text: string) => string): Promise<void> {
  const file = join(gateway.dir, name)
  await writeFile(file, change(await readFile(file, 'utf8')))
  const reply = await fetch(`${gateway.adminUrl}/reload`, { method: 'POST' })
  const { ok } = (await reply.json()) as { readonly ok: boolean }
  if (!ok) throw new Error(`the edit of ${name} was rejected`)
}

t.test(
  'bug: a call that begins after an edit of its row neither keeps nor finds by the row of before',
  async t => {
    const gate = new Gate()
    node.on('test_held', held(gate, echo))
    const first = Array.from({ length: IN_FLIGHT }, (_, i) => message('test_held', [i], i))
    const behind = ['a', 'b'].map(param => message('test_edited', [param], param))
    const batch = access.post(`[${[...first, ...behind].join()}]`)
    await node.arrived('test_held', IN_FLIGHT)
    // For a while its answers are about a block, and none is known to be final.
    await edit('methods.yaml', () => methods('cache: [final], block: { at: 0, kind: ref }'))
    await edit('methods.yaml', () => methods('cache: [fixed], cost: 2'))
    await access.call('test_edited', ['b'])
    t.equal(await metric(gateway, 'tollgate_cache_entries'), 1)
    gate.open()
    const answers = JSON.parse((await batch).text) as { readonly result: unknown }[]
    t.strictSame(
      answers.slice(IN_FLIGHT).map(({ result }) => result),
      [['a'], ['b']],
    )
    t.equal(node.count('test_edited'), 3, 'what was kept after the edit is not found')
    t.equal(await metric(gateway, 'tollgate_cache_entries'), 1, 'and nothing more is kept')
    await access.call('test_edited', ['a'])
    t.equal(node.count('test_edited'), 4)
  },
)
