import { spawn, execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { freePortPair } from './free-port.ts'
import type { Teardown } from './teardown.ts'
import { tempDir } from './temp-dir.ts'
import { until } from './until.ts'

/** How far above its own port a server of a cluster listens for the others. */
const BUS = 10_000

/** Three servers that are one cluster, without replicas; their URLs. */
export async function startRedisCluster(t: Teardown): Promise<readonly string[]> {
  const ports = await Promise.all(Array.from({ length: 3 }, () => freePortPair(BUS)))
  for (const port of ports) {
    const dir = await tempDir(t)
    const args = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--dir',
      dir,
      '--cluster-enabled',
      'yes',
    ]
    const child = spawn('redis-server', args, { stdio: 'ignore' })
    t.teardown(() => child.kill('SIGKILL'))
  }
  const cli = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)('redis-cli', args)).stdout
  for (const port of ports)
    await until('a server answers', () =>
      cli('-p', String(port), 'ping').then(
        said => said.includes('PONG'),
        () => false,
      ),
    )
  const addresses = ports.map(port => `127.0.0.1:${port}`)
  await cli('--cluster', 'create', ...addresses, '--cluster-yes')
  for (const port of ports)
    await until('they are a cluster', async () =>
      (await cli('-p', String(port), 'cluster', 'info')).includes('cluster_state:ok'),
    )
  return addresses.map(address => `redis://${address}`)
}
