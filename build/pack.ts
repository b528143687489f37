/** npm runs this before `npm pack`: the package holds one build, so the one before it, which dist/ keeps for running gateways, is removed. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { dist, presentBuild } from './publish.ts'

const present = presentBuild()
for (const name of readdirSync(dist))
  if (name.startsWith('build-') && name !== present) rmSync(join(dist, name), { recursive: true })
