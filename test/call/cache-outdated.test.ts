/** What an edit of the YAML drops of the kept answers. */
import t from 'tap'
import { dropOutdated } from '../../src/call/cache/outdated.ts'
import type { Heads } from '../../src/routes/heads.ts'
import type { Snapshot } from '../../src/snapshot/types.ts'
import { MemoryAnswers } from '../../src/stores/memory/answers.ts'
import { snapshotOf } from '../support/snapshot.ts'

interface Edit {
  /** Of the network. */
  readonly chainId?: number
  readonly network?: string
  readonly cache?: string
}

function edited({ chainId = 1, network = '', cache = '{ memory: 1MiB }' }: Edit): Promise<Snapshot> {
  return snapshotOf(t, {
    networks: `
baseUrl: http://{subdomain}.example.test
networks:
  eth: { name: Test, family: evm, chainId: ${chainId}${network} }
  other: { name: Other, family: evm, chainId: 7 }
`,
    routes: `
routes:
  - { id: eth-a, network: eth, http: "http://127.0.0.1:1" }
  - { id: other-a, network: other, http: "http://127.0.0.1:1" }
`,
    methods: `
families:
  evm:
    eth_call: { block: { at: 1, kind: ref }, retry: safe, cache: [final, tip] }
`,
    ...(cache === '' ? {} : { gateway: `cache: ${cache}` }),
  })
}

/** What of the two networks is still kept after an edit, and of which networks it is forgotten what is final. */
async function after(before: Edit, next: Edit): Promise<readonly string[]> {
  const answers = new MemoryAnswers(1024 * 1024)
  for (const network of ['eth', 'other'])
    answers.keep(network, { result: '1', origin: { network, method: 'eth_call', route: 'a' }, bounds: null })
  const forgotten: string[] = []
  const heads = { finality: { forget: (slug: string) => forgotten.push(slug) } } as unknown as Heads
  dropOutdated(await edited(before), await edited(next), { answers, heads })
  return [
    ...['eth', 'other'].filter(key => answers.find(key) !== null),
    ...forgotten.map(slug => `forgot ${slug}`),
  ]
}

t.test('answers of a network that means another chain, or another final block, are dropped', async t => {
  const kept = ['eth', 'other']
  const dropped = ['other', 'forgot eth']
  const cases: readonly (readonly [before: Edit, next: Edit, left: readonly string[]])[] = [
    [{}, {}, kept],
    [{}, { network: ', hedge: true, share: false, cache: { tip: 1s }' }, kept],
    [{}, { cache: '{ memory: 2MiB }' }, kept],
    [{}, { chainId: 2 }, dropped],
    [{}, { network: ', finality: safe' }, dropped],
    [{}, { network: ', finality: none' }, dropped],
    [{}, { network: ', cache: false' }, dropped],
    [{ network: ', cache: false' }, {}, kept],
    [{}, { cache: '' }, ['forgot eth', 'forgot other']],
  ]
  for (const [before, next, left] of cases)
    t.strictSame(await after(before, next), left, JSON.stringify([before, next]))
})
