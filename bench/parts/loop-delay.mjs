/** Loaded into a process with `--import`: on SIGUSR2 prints how long its event loop was held since the last one, at most and in all but one of 1 000 samples. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

const RESOLUTION = 1
const delay = monitorEventLoopDelay({ resolution: RESOLUTION })
delay.enable()

process.on('SIGUSR2', () => {
  const [ms, p999] = [delay.max / 1e6, delay.percentile(99.9) / 1e6]
  delay.reset()
  console.log(JSON.stringify({ msg: 'loop', ms, p999 }))
})
