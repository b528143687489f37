/** When V8 optimizes: what a start runs a few dozen times is not worth it, and was a third of its CPU. */
import { setFlagsFromString } from 'node:v8'

/** Bytes of code that run before a function is optimized: about eight times as many as V8's own choice. */
const LATE = 1_000_000

/** The V8 of Node.js 22 and newer counts calls, not bytes, and says so on stderr when it is given another one's flag. */
const COUNTS_BYTES = Number.parseInt(process.versions.v8, 10) < 12

/** For a process that does one small thing; a large one is optimized in time. */
export function optimizeLate(): void {
  if (!COUNTS_BYTES) return
  setFlagsFromString(`--interrupt-budget=${LATE}`)
}

/** Optimizes nothing until the returned function is called; from then on all is as it would have been. */
export function pauseOptimizing(): () => void {
  setFlagsFromString('--no-opt')
  return () => {
    setFlagsFromString('--opt')
  }
}
