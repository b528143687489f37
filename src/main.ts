#!/usr/bin/env node
/** The program. What it does is loaded behind what has to be there first. */
import './early-signals.ts'

await import('./run.ts')
