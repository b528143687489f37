/** The attacker's process: runs what test/isolation/attacks describes, at a low priority, so that it takes no CPU from the gateway. */
import { setPriority } from 'node:os'
import { answerAs } from './helper.ts'

setPriority(10)

answerAs({
  run: async ({ file, attack, target, options }) => {
    const attacks = await import(new URL(`../attacks/${file}.ts`, import.meta.url).href)
    return attacks[attack](target, options) as unknown
  },
})
