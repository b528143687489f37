import { prepareGateway } from '../../support/gateway.ts'
import type { Gateway } from '../../support/gateway.ts'
import { startNode } from '../../support/scripted-node.ts'
import type { Teardown } from '../../support/teardown.ts'
import { writeCrowd } from './crowd.ts'
import type { Crowd } from './crowd.ts'

/** A gateway with two networks and an account of many endpoints, which has used both for some days; it is not running yet. */
export async function crowdedGateway(
  t: Teardown,
  { count = 100, days }: { count?: number; days: number },
): Promise<{ readonly gateway: Gateway; readonly crowd: Crowd }> {
  const node = await startNode(t, { chainId: 1001 })
  const gateway = await prepareGateway(t, {
    networks: { alpha: { chainId: 1001, name: 'Alpha Chain' }, beta: { chainId: 1001, name: 'Beta Chain' } },
    routes: [
      { id: 'alpha-a', network: 'alpha', http: node.url },
      { id: 'beta-a', network: 'beta', http: node.url },
    ],
    gateway: { dashboardHost: '127.0.0.1' },
  })
  const crowd = await writeCrowd(gateway, { networks: ['alpha', 'beta'], plan: 'paid', count, days })
  return { gateway, crowd }
}
