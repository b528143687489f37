/** The program as it stands in `src/`, run by tsx. */
import { register } from 'tsx/esm/api'

register()
process.argv[1] = new URL('../../src/main.ts', import.meta.url).pathname
await import('../../src/main.ts')
