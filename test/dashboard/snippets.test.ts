import t from 'tap'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { snippets } from '../../dashboard/src/text/snippets.ts'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { root } from '../support/paths.ts'
import { startNode } from '../support/scripted-node.ts'
import { sideBySide } from '../support/side-by-side.ts'

const runFile = promisify(execFile)

t.test('the snippets that the dashboard offers run as they are', async t => {
  const node = await startNode(t, { chainId: 1001, head: 4242 })
  const gateway = await startGateway(t, {
    networks: {
      alpha: { chainId: 1001 },
      sol: { family: 'solana', chainId: 'solana-test' },
      any: { family: 'jsonrpc', chainId: 'any' },
    },
    routes: [
      { id: 'alpha-a', network: 'alpha', http: node.url },
      { id: 'sol-a', network: 'sol', http: node.url },
      { id: 'any-a', network: 'any', http: node.url },
    ],
  })
  const urls = {
    evm: (await createAccess(gateway, 'paid', 'alpha')).url,
    solana: (await createAccess(gateway, 'paid', 'sol')).url,
  }
  t.strictSame(
    [...snippets.evm, ...snippets.solana].map(({ tool }) => tool),
    ['curl', 'viem', 'ethers', 'web3.py', 'curl', '@solana/kit'],
  )
  const here = (['evm', 'solana'] as const).flatMap(family =>
    snippets[family].filter(({ tool }) => tool !== 'web3.py').map(snippet => ({ family, ...snippet })),
  )
  await sideBySide(here, async ({ family, tool, code }) => {
    const [command, ...flags] =
      tool === 'curl' ? ['sh', '-c'] : [process.execPath, '--input-type=module', '-e']
    const { stdout } = await runFile(command, [...flags, code(urls[family])], { cwd: root, timeout: 60_000 })
    t.match(stdout, /4242|0x1092/, `${tool} on ${family}`)
  })
  const [curl] = snippets.jsonrpc
  const any = (await createAccess(gateway, 'paid', 'any')).url
  t.match((await runFile('sh', ['-c', curl!.code(any)])).stdout, /"result":.*"chainId":1001/)
  const python = snippets.evm.find(({ tool }) => tool === 'web3.py')?.code('http://x')
  t.equal(
    python,
    `from web3 import Web3\n\nw3 = Web3(Web3.HTTPProvider('http://x'))\nprint(w3.eth.block_number)`,
  )
})
