import { startGateway, type Gateway } from './gateway.ts'
import { ScriptedChain } from './scripted-chain.ts'
import { startSocketNode, type ScriptedSocketNode } from './scripted-socket-node.ts'
import type { Teardown } from './teardown.ts'

/** Two nodes of one network with a chain each; the gateway prefers `a`. */
export interface SocketPair {
  readonly a: ScriptedSocketNode
  readonly b: ScriptedSocketNode
  readonly chainA: ScriptedChain
  readonly chainB: ScriptedChain
}

/** A gateway on a network for each slug, with two nodes that carry subscriptions. */
export async function startSocketPairs<Slug extends string>(
  t: Teardown,
  slugs: readonly Slug[],
  firstChain: number,
): Promise<{ readonly gateway: Gateway; readonly pairs: ReadonlyMap<Slug, SocketPair> }> {
  const pairs = new Map<Slug, SocketPair>()
  for (const [i, slug] of slugs.entries()) {
    const chainId = firstChain + i
    const [chainA, chainB] = [new ScriptedChain(), new ScriptedChain()]
    const a = await startSocketNode(t, { chainId, chain: chainA })
    const b = await startSocketNode(t, { chainId, chain: chainB })
    pairs.set(slug, { a, b, chainA, chainB })
  }
  const gateway = await startGateway(t, {
    networks: Object.fromEntries(slugs.map((slug, i) => [slug, { chainId: firstChain + i }])),
    routes: [...pairs].flatMap(([slug, { a, b }]) => [
      { id: `${slug}-a`, network: slug, http: a.url, ws: a.wsUrl, priority: 1 },
      { id: `${slug}-b`, network: slug, http: b.url, ws: b.wsUrl, priority: 2 },
    ]),
  })
  return { gateway, pairs }
}
