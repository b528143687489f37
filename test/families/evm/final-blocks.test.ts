/** What EVM nodes are asked for, so that it is known what is final and whether it still is. */
import t from 'tap'
import { evmProbe } from '../../../src/families/evm/probe.ts'
import type { FinalBlock, Probing } from '../../../src/families/probing.ts'
import type { Network } from '../../../src/snapshot/types.ts'

/** Looks at a node that has every block, and says what it was asked for blocks and what was taken in. */
async function look(
  { cache = { tip: 0 }, finality }: Partial<Pick<Network, 'cache' | 'finality'>>,
  { toShow = [], isDue = true }: { readonly toShow?: readonly number[]; readonly isDue?: boolean },
) {
  const asked: string[] = []
  const taken: (FinalBlock | null)[] = []
  const shown: FinalBlock[] = []
  const answers = (params: string): string => {
    const [name] = JSON.parse(params) as [string]
    return `{"number":"${name.startsWith('0x') ? name : '0x9'}","hash":"0xAB"}`
  }
  const probing = {
    network: { cache, finality },
    route: { slots: { tell: () => undefined } },
    now: () => 0,
    isBehind: () => false,
    isRead: () => false,
    askAlive: () => Promise.resolve({ kind: 'result', result: '"0x20"' }),
    ask: (method: string, params: string) => {
      if (method !== 'eth_getBlockByNumber') return Promise.resolve({ kind: 'result', result: 'false' })
      asked.push(params)
      return Promise.resolve({ kind: 'result', result: answers(params) })
    },
    claim: () => undefined,
    needsProof: () => false,
    isDue: () => isDue,
    final: (block: FinalBlock | null) => taken.push(block),
    finalsToShow: () => toShow,
    finalShown: (block: FinalBlock) => shown.push(block),
  } as unknown as Probing
  await evmProbe.probe(probing)
  return { asked, taken, shown }
}

const block = (number: number): FinalBlock => ({ number, hash: '"0xab"' })

t.test('by a tag: the newest one, and one of before unless it is the same', async t => {
  t.strictSame(await look({ finality: 'safe' }, { toShow: [7] }), {
    asked: ['["safe",false]', '["0x7",false]'],
    taken: [block(9)],
    shown: [block(7)],
  })
  t.strictSame(await look({ finality: 'safe' }, { toShow: [9] }), {
    asked: ['["safe",false]'],
    taken: [block(9)],
    shown: [],
  })
})

t.test('bug: by a depth no node was asked for a block', async t => {
  t.strictSame(await look({ finality: 64 }, { toShow: [12, 7] }), {
    asked: ['["0xc",false]', '["0x7",false]'],
    taken: [],
    shown: [block(12), block(7)],
  })
})

t.test('nothing that need not be known', async t => {
  const nothing = { asked: [], taken: [], shown: [] }
  t.strictSame(await look({ finality: 64 }, {}), nothing, 'none is final yet')
  t.strictSame(await look({ finality: 64 }, { toShow: [7], isDue: false }), nothing)
  t.strictSame(await look({ finality: 'safe', cache: null }, { toShow: [7] }), nothing)
  t.strictSame(await look({ finality: null }, { toShow: [7] }), nothing)
})
