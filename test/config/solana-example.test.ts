import t from 'tap'
import { run, runJson } from '../support/cli.ts'
import { root } from '../support/paths.ts'

const dir = `${root}/examples/solana`

t.test('tollgate check finds no problem, without an environment and with all of it', async t => {
  const env = {
    SOLANA_A_URL: 'http://10.0.0.1:8899',
    SOLANA_A_WS: 'ws://10.0.0.1:8900',
    SOLANA_B_URL: 'http://10.0.0.2:8899',
    SOLANA_B_WS: 'ws://10.0.0.2:8900',
    SOLANA_ARCHIVE: 'true',
    SOLANA_ARCHIVE_URL: 'http://10.0.0.3:8899',
    SOLANA_DEVNET_URL: 'http://10.0.0.4:8899',
    SOLANA_DEVNET_WS: 'ws://10.0.0.4:8900',
  }
  for (const given of [{}, env])
    t.match(await runJson(dir, ['check'], given), {
      ok: true,
      problems: [],
      counts: { networks: 2, routes: 4 },
    })
  const asked = [
    'explain',
    'solana',
    'getBlock',
    '--plan',
    'free',
    '--params',
    '[1]',
    '--config',
    dir,
    '--json',
  ]
  const { routes } = JSON.parse((await run(asked, env)).stdout) as { routes: { id: string; able: boolean }[] }
  t.strictSame(
    routes.filter(({ able }) => able).map(({ id }) => id),
    ['solana-a', 'solana-b', 'solana-archive'],
  )
})

t.test('coins for nothing are there on the devnet alone', async t => {
  const outcome = async (network: string) => {
    const asked = ['explain', network, 'requestAirdrop', '--plan', 'free', '--config', dir, '--json']
    return (JSON.parse((await run(asked)).stdout) as { outcome: string }).outcome
  }
  t.equal(await outcome('solana'), 'refuse')
  t.equal(await outcome('solana-devnet'), 'forward')
})
