/** A private route gets every transaction of its network, by whichever row and under whichever name, and nobody else does. */
import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { parse, stringify } from 'yaml'
import { message, type Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import type { NetworkYaml, RouteYaml } from '../support/config-files.ts'
import { startGateway } from '../support/gateway.ts'
import { root } from '../support/paths.ts'
import { refused } from '../support/refusals.ts'
import { startNode, type ScriptedNode } from '../support/scripted-node.ts'

/** The rows of an example, as they ship. */
async function rowsOf(example: string): Promise<Readonly<Record<string, object>>> {
  const text = await readFile(`${root}/examples/${example}/methods.yaml`, 'utf8')
  return parse(text, { merge: true }).families.jsonrpc as Record<string, object>
}

interface Case {
  readonly network: NetworkYaml
  /** Methods that carry a transaction. */
  readonly sends: readonly string[]
  readonly reads: readonly string[]
}

const jsonrpc = (methods: object): NetworkYaml => ({ family: 'jsonrpc', chainId: 'test', methods })

const cases: Readonly<Record<string, Case>> = {
  evm: {
    network: {
      chainId: 1001,
      methods: {
        'eth_*': { retry: 'safe', hedge: true },
        'mev_*': {},
        'zks_*': {},
        'timeboost_*': {},
        'blxr_*': {},
        'bsc_*': {},
        'wallet_*': {},
      },
    },
    sends: [
      'eth_sendRawTransaction',
      'eth_sendRawTransactionSync',
      'eth_sendRawTransactionConditional',
      'eth_sendPrivateTransaction',
      'eth_sendPrivateRawTransaction',
      'eth_sendBundle',
      'eth_sendBlobs',
      'eth_sendMegaBundle',
      'eth_sendEndOfBlockBundle',
      'eth_sendUserOperation',
      'eth_callBundle',
      'eth_cancelBundle',
      'eth_cancelPrivateTransaction',
      'mev_sendBundle',
      'mev_simBundle',
      'zks_sendRawTransactionWithDetailedOutput',
      'timeboost_sendExpressLaneTransaction',
      'blxr_tx',
      'blxr_private_tx',
      'blxr_batch_tx',
      'blxr_submit_bundle',
      'bsc_private_tx',
      'wallet_sendCalls',
      'eth_SendRawTransaction',
      'eth_sendrawtransaction',
    ],
    reads: ['eth_call', 'eth_getBalance', 'zks_getProof', 'blxr_tx_status'],
  },
  sol: {
    network: {
      family: 'solana',
      chainId: 'solana-test',
      methods: { 'send*': {}, 'get*': {}, 'simulate*': {} },
    },
    sends: ['sendTransaction', 'sendBundle', 'sendPrivateTransaction'],
    reads: ['getEpochInfo', 'simulateTransaction'],
  },
  bitcoin: {
    network: jsonrpc({ ...(await rowsOf('bitcoin')), submitpackage: {} }),
    sends: ['sendrawtransaction', 'submitpackage', 'testmempoolaccept'],
    reads: ['getblockhash', 'decodescript'],
  },
  starknet: {
    network: jsonrpc(await rowsOf('starknet')),
    sends: [
      'starknet_addInvokeTransaction',
      'starknet_addDeclareTransaction',
      'starknet_addDeployAccountTransaction',
    ],
    reads: ['starknet_call', 'starknet_getNonce'],
  },
  others: {
    network: jsonrpc({
      'author_*': {},
      'chain_*': {},
      'transaction_*': {},
      'transactionWatch_*': {},
      'broadcast_*': {},
      send_tx: {},
      submit: {},
      submit_multisigned: {},
      account_info: {},
      'sui_*': {},
      'iota_*': {},
      'Filecoin.*': {},
      'avm.*': {},
      'platform.*': {},
      'blockchain.*': {},
      'blob.*': {},
      sendBoc: {},
      'icx_*': {},
      'account_*': {},
      'cfx_*': {},
      CreateTransaction: {},
      submitTransaction: {},
      'z_*': {},
    }),
    sends: [
      'author_submitExtrinsic',
      'author_submitAndWatchExtrinsic',
      'transaction_v1_broadcast',
      'transactionWatch_v1_submitAndWatch',
      'broadcast_tx_sync',
      'broadcast_tx_async',
      'broadcast_tx_commit',
      'send_tx',
      'submit',
      'submit_multisigned',
      'sui_executeTransactionBlock',
      'iota_executeTransactionBlock',
      'Filecoin.MpoolPush',
      'Filecoin.MpoolBatchPush',
      'avm.issueTx',
      'platform.issueTx',
      'blockchain.transaction.broadcast',
      'blob.Submit',
      'sendBoc',
      'z_sendmany',
      'icx_sendTransaction',
      'account_put_deploy',
      'account_put_transaction',
      'cfx_sendRawTransaction',
      'CreateTransaction',
      'submitTransaction',
    ],
    reads: ['chain_getBlock', 'account_info', 'sui_getObject', 'Filecoin.ChainHead', 'cfx_getBalance'],
  },
}

const networks: Record<string, NetworkYaml> = {}
const routes: RouteYaml[] = []
const nodes: Record<string, { readonly relay: ScriptedNode; readonly open: ScriptedNode }> = {}
const start = (): Promise<ScriptedNode> => startNode(t, { chainId: 1001 })
const txindex = { capabilities: ['txindex', 'trace'] }
for (const [slug, { network }] of Object.entries(cases)) {
  const pair = (nodes[slug] = { relay: await start(), open: await start() })
  networks[slug] = network
  routes.push(
    { id: `${slug}-open`, network: slug, http: pair.open.url, ...txindex },
    { id: `${slug}-relay`, network: slug, http: pair.relay.url, priority: 2, private: true },
  )
}
networks['down'] = { chainId: 1001, methods: { 'eth_*': {} } }
const open = await start()
routes.push(
  { id: 'down-open', network: 'down', http: open.url },
  { id: 'down-relay', network: 'down', http: open.url, private: true, enabled: false },
)
const methods = stringify({ notification: { cost: 1 }, families: { evm: {}, solana: {}, jsonrpc: {} } })
const gateway = await startGateway(t, { networks, routes, methods })

/** Makes the call, and reports which of the nodes got it. */
async function receivers(access: Access, slug: string, method: string): Promise<string[]> {
  const { relay, open } = nodes[slug]!
  const before = [relay.count(method), open.count(method)]
  await access.call(method, ['0x00'])
  const after = [relay.count(method), open.count(method)]
  return ['relay', 'open'].filter((_, n) => after[n] !== before[n])
}

for (const [slug, { sends, reads }] of Object.entries(cases)) {
  t.test(`${slug}: transactions go to the private route alone, reads never`, async t => {
    const access = await createAccess(gateway, 'paid', slug)
    const wanted = [...sends.map(method => [method, ['relay']]), ...reads.map(method => [method, ['open']])]
    const found: unknown[] = []
    for (const [method] of wanted) found.push([method, await receivers(access, slug, String(method))])
    t.strictSame(found, wanted)
  })
}

t.test('while the private route is switched off they are refused', async (t: Test) => {
  const access = await createAccess(gateway, 'paid', 'down')
  const sent = open.calls.length
  for (const method of ['eth_sendPrivateTransaction', 'eth_sendBundle', 'eth_sendRawTransactionSync'])
    refused(t, await access.post(message(method)), { reason: 'no_route', id: '1' })
  t.strictSame(
    open.calls.slice(sent).filter(({ method }) => method?.includes('send')),
    [],
  )
})
