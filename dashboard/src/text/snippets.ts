/** Ready-made programs that make one call. */
import type { NetworkStatus } from '../api/types.ts'

/** A program for one tool. */
export interface Snippet {
  readonly tool: string
  readonly code: (url: string) => string
}

const call = (method: string): string => `{"jsonrpc":"2.0","id":1,"method":"${method}","params":[]}`

const curl = (method: string): Snippet => ({
  tool: 'curl',
  code: url => `curl -s ${url} \\
  -H 'content-type: application/json' \\
  -d '${call(method)}'`,
})

const evm: readonly Snippet[] = [
  curl('eth_blockNumber'),
  {
    tool: 'viem',
    code: url => `import { createPublicClient, http } from 'viem'

const client = createPublicClient({ transport: http('${url}') })
console.log(await client.getBlockNumber())`,
  },
  {
    tool: 'ethers',
    code: url => `import { JsonRpcProvider } from 'ethers'

const provider = new JsonRpcProvider('${url}')
console.log(await provider.getBlockNumber())`,
  },
  {
    tool: 'web3.py',
    code: url => `from web3 import Web3

w3 = Web3(Web3.HTTPProvider('${url}'))
print(w3.eth.block_number)`,
  },
]

const solana: readonly Snippet[] = [
  curl('getSlot'),
  {
    tool: '@solana/kit',
    code: url => `import { createSolanaRpc } from '@solana/kit'

const rpc = createSolanaRpc('${url}')
console.log(await rpc.getSlot().send())`,
  },
]

const http: readonly Snippet[] = [{ tool: 'curl', code: url => `curl -s ${url}/eth/v1/node/version` }]

/** What there is to call is the operator's choice; this works with every key. */
const jsonrpc: readonly Snippet[] = [curl('service_supportedNetworks')]

/** The programs for a family of networks. */
export const snippets: Readonly<Record<NetworkStatus['family'], readonly Snippet[]>> = {
  evm,
  solana,
  http,
  jsonrpc,
}
