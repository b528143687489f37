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
  /** Rows of methods.yaml. */
  readonly rows?: string
}

const ROWS = '{ eth_call: { block: { at: 1, kind: ref }, retry: safe, cache: [final, tip] } }'

function edited({
  chainId = 1,
  network = '',
  cache = '{ memory: 1MiB }',
  rows = ROWS,
}: Edit): Promise<Snapshot> {
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
  evm: ${rows}
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

t.test('bug: answers of a row that keeps others now are dropped, those of other rows stay', async t => {
  const rows = (one: string, pattern = '') =>
    `{ one: { retry: safe${one} }, two: { retry: safe, cache: [fixed] }${pattern} }`
  const of = async (before: string, next: string): Promise<readonly string[]> => {
    const answers = new MemoryAnswers(1024 * 1024)
    for (const method of ['one', 'two', 'on*'])
      answers.keep(method, { result: '1', origin: { network: 'eth', method, route: 'a' }, bounds: null })
    const heads = { finality: { forget: () => t.fail('nothing else is final') } } as unknown as Heads
    dropOutdated(await edited({ rows: before }), await edited({ rows: next }), { answers, heads })
    return ['one', 'two', 'on*'].filter(key => answers.find(key) !== null)
  }
  const shown = (path: string) => rows(`, cache: [final], block: { at: 0, kind: num }, shows: ${path}`)
  const all = ['one', 'two', 'on*']
  const pattern = ', on*: { retry: safe, cache: [tip] }'
  const cases: readonly (readonly [before: string, next: string, left: readonly string[]])[] = [
    [rows(', cache: [fixed]'), rows(', cache: [fixed], cost: 5, timeout: fast'), all],
    [rows(', cache: [fixed]'), rows(', cache: [tip]'), ['two', 'on*']],
    [rows(', cache: [fixed]'), rows(''), ['two', 'on*']],
    [shown('number'), shown('blockNumber'), ['two', 'on*']],
    [
      rows(', cache: [final], block: { at: 0, kind: num }'),
      rows(', cache: [final], block: { at: 1, kind: num }'),
      ['two', 'on*'],
    ],
    [rows('', pattern), rows(', cache: [tip]', pattern), ['two']],
    [`{ two: { retry: safe, cache: [fixed] }${pattern} }`, rows(', cache: [tip]', pattern), ['two']],
  ]
  for (const [before, next, left] of cases) t.strictSame(await of(before, next), left, `${before} → ${next}`)
})
