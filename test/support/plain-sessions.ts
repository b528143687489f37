/** The port Sessions written as plainly as it can be: in a list, every answer by a promise. */
import { randomBytes } from 'node:crypto'
import { MOST_SESSIONS, SESSION_IDLE, SESSION_LIFE, SESSIONS_PER_ACCOUNT } from '../../src/ports/sessions.ts'
import type { Sessions } from '../../src/ports/sessions.ts'
import type { SignIn } from '../../src/ports/keys.ts'

interface Session {
  readonly id: string
  readonly signIn: SignIn
  readonly openedAt: number
  readonly usedAt: number
}

/** An empty one. */
export function plainSessions(): Sessions {
  /** The last used one is the last. */
  let all: readonly Session[] = []
  const without = (id: string): readonly Session[] => all.filter(each => each.id !== id)
  return {
    open: async (signIn, now) => {
      const id = randomBytes(32).toString('base64url')
      const own = all.filter(each => each.signIn.accountId === signIn.accountId)
      const leaving = own.slice(0, Math.max(0, own.length - SESSIONS_PER_ACCOUNT + 1))
      const kept = all.filter(each => !leaving.includes(each)).slice(1 - MOST_SESSIONS)
      all = [...kept, { id, signIn, openedAt: now, usedAt: now }]
      return Promise.resolve(id)
    },
    find: async (id, now) => {
      const found = all.find(each => each.id === id)
      if (found === undefined) return Promise.resolve(null)
      if (now - found.usedAt >= SESSION_IDLE || now - found.openedAt >= SESSION_LIFE) return null
      all = [...without(id), { ...found, usedAt: now }]
      return found.signIn
    },
    end: async id => {
      all = without(id)
      return Promise.resolve()
    },
  }
}
