/** Loaded into a process with `--import`: on SIGUSR2 prints the longest block of its event loop since the last one. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

const RESOLUTION = 1
const delay = monitorEventLoopDelay({ resolution: RESOLUTION })
delay.enable()

process.on('SIGUSR2', () => {
  const ms = delay.max / 1e6
  delay.reset()
  console.log(JSON.stringify({ msg: 'loop', ms }))
})
