import { Agent } from 'node:http'
import { send } from '../../support/http.ts'
import type { Target } from '../harness/stage.ts'
import { call } from './raw.ts'

const DAY = 86_400

/** Asks for a month of usage by the hour, again and again, on a few connections. */
export async function pages({ port, paths }: Target, options: { ms: number }): Promise<object> {
  const to = Math.floor(Date.now() / 1000)
  const body = call('service_usage', [{ from: to - 31 * DAY, to, by: 'hour' }])
  const agent = new Agent({ keepAlive: true })
  const end = performance.now() + options.ms
  let [answered, refused, bytes] = [0, 0, 0]
  const one = async () => {
    while (performance.now() < end) {
      const { text } = await send(port, { path: paths.paid, body, agent })
      if (text.includes('"reason"')) refused++
      else answered++
      bytes += text.length
    }
  }
  await Promise.all([1, 2, 3].map(one))
  agent.destroy()
  return { answered, refused, MiB: Math.round(bytes / 2 ** 20) }
}
