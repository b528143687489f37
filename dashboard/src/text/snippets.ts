/** Ready-made programs that make one call. */
import type { NetworkStatus, Secrets } from '../api/types.ts'

/** A program for one tool. */
export interface Snippet {
  readonly tool: string
  /** Which URL it takes. */
  readonly url: keyof Omit<Secrets, 'apiKey'>
  readonly code: (url: string) => string
}

const call = (method: string): string => `{"jsonrpc":"2.0","id":1,"method":"${method}","params":[]}`

const over = (tool: string, code: Snippet['code']): Snippet => ({ tool, url: 'httpsUrl', code })

const curl = (method: string): Snippet =>
  over(
    'curl',
    url => `curl -s ${url} \\
  -H 'content-type: application/json' \\
  -d '${call(method)}'`,
  )

const evm: readonly Snippet[] = [
  curl('eth_blockNumber'),
  over(
    'viem',
    url => `import { createPublicClient, http } from 'viem'

const client = createPublicClient({ transport: http('${url}') })
console.log(await client.getBlockNumber())`,
  ),
  over(
    'ethers',
    url => `import { JsonRpcProvider } from 'ethers'

const provider = new JsonRpcProvider('${url}')
console.log(await provider.getBlockNumber())`,
  ),
  over(
    'web3.py',
    url => `from web3 import Web3

w3 = Web3(Web3.HTTPProvider('${url}'))
print(w3.eth.block_number)`,
  ),
  over(
    'Go',
    url => `package main

import (
	"context"
	"fmt"
	"log"

	"github.com/ethereum/go-ethereum/ethclient"
)

func main() {
	client, err := ethclient.Dial("${url}")
	if err != nil {
		log.Fatal(err)
	}
	block, err := client.BlockNumber(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(block)
}`,
  ),
  over(
    'Rust',
    url => `use alloy::providers::{Provider, ProviderBuilder};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = "${url}";
    let provider = ProviderBuilder::new().connect(url).await?;
    println!("{}", provider.get_block_number().await?);
    Ok(())
}`,
  ),
  over('Foundry', url => `cast block-number --rpc-url ${url}`),
  over(
    'Hardhat',
    url => `// hardhat.config.ts
import { defineConfig } from 'hardhat/config'

export default defineConfig({
  solidity: '0.8.28',
  networks: { main: { type: 'http', url: '${url}' } },
})`,
  ),
  {
    tool: 'WSS',
    url: 'wssUrl',
    code: url => `import { createPublicClient, webSocket } from 'viem'

const client = createPublicClient({ transport: webSocket('${url}') })
console.log(await client.getBlockNumber())
client.watchBlockNumber({ onBlockNumber: block => console.log(block) })`,
  },
]

const solana: readonly Snippet[] = [
  curl('getSlot'),
  over(
    '@solana/kit',
    url => `import { createSolanaRpc } from '@solana/kit'

const rpc = createSolanaRpc('${url}')
console.log(await rpc.getSlot().send())`,
  ),
]

const http: readonly Snippet[] = [over('curl', url => `curl -s ${url}/eth/v1/node/version`)]

/** What there is to call is the operator's choice; this works with every key. */
const jsonrpc: readonly Snippet[] = [curl('service_supportedNetworks')]

/** The programs for a family of networks. */
export const snippets: Readonly<Record<NetworkStatus['family'], readonly Snippet[]>> = {
  evm,
  solana,
  http,
  jsonrpc,
}
