import { startNode, type ScriptedNode } from './scripted-node.ts'
import type { Teardown } from './teardown.ts'

const PIECE = Buffer.alloc(2 ** 20, 'a')

/** A node that answers eth_getBlockByHash with a string of so many MiB, written in pieces that cost this process nothing. */
export async function startBigNode(t: Teardown, mebibytes = 15): Promise<ScriptedNode> {
  const node = await startNode(t, { chainId: 1001 })
  node.on('eth_getBlockByHash', ({ id }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write(`{"jsonrpc":"2.0","id":${id},"result":"`)
    for (let i = 0; i < mebibytes; i++) response.write(PIECE)
    response.end('"}')
  })
  return node
}
