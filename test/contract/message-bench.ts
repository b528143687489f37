import type { Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { allCapabilities } from '../support/config-files.ts'
import { startGateway, type Gateway } from '../support/gateway.ts'
import { startSocketNode, type ScriptedSocketNode } from '../support/scripted-socket-node.ts'
import type { Teardown } from '../support/teardown.ts'
import { evmChainId, evmOverrides, type MessageCase } from './message-cases.ts'

/** A gateway with one EVM and one Solana network, each on a scripted node, for the cases of the message contract. */
export interface Bench {
  readonly gateway: Gateway
  readonly nodes: Readonly<Record<MessageCase['family'], ScriptedSocketNode>>
  /** A new account with an endpoint on the family's network. */
  readonly access: (family: MessageCase['family']) => Promise<Access>
}

/** Starts the bench; everything ends with the test. */
export async function startBench(
  t: Teardown,
  gatewayYaml: Readonly<Record<string, unknown>> = {},
): Promise<Bench> {
  const nodes = {
    evm: await startSocketNode(t, { chainId: evmChainId }),
    solana: await startSocketNode(t),
  }
  const gateway = await startGateway(t, {
    networks: {
      // Each call is looked for at the node.
      alpha: { chainId: evmChainId, public: true, share: false, methods: evmOverrides },
      sol: { family: 'solana', chainId: 'solana-test', share: false },
    },
    routes: [
      {
        id: 'alpha-a',
        network: 'alpha',
        http: nodes.evm.url,
        ws: nodes.evm.wsUrl,
        capabilities: allCapabilities,
        headers: { 'X-Operator': 'operator-secret-3' },
      },
      {
        id: 'sol-a',
        network: 'sol',
        http: nodes.solana.url,
        ws: nodes.solana.wsUrl,
        capabilities: ['archive'],
      },
    ],
    gateway: gatewayYaml,
  })
  const slugs = { evm: 'alpha', solana: 'sol' }
  return { gateway, nodes, access: async family => createAccess(gateway, 'paid', slugs[family]) }
}
