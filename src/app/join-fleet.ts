/** Joins a gateway to the others that share its accounts: it follows what they change, and one of all posts to webhooks. */
import { logFailure } from '../observe/log.ts'
import type { Logger } from '../observe/log.ts'
import { StoreUnavailable } from '../ports/store-unavailable.ts'
import type { SharedAccounts } from '../stores/postgres/accounts/open.ts'
import type { Closing } from './closing.ts'

/** This gateway among those that share accounts. */
export interface Fleet {
  /** Whether this one reads the audit trail for events and posts to webhooks: one of all does. */
  posts(): boolean
  /** Calls `listener` when another gateway has changed what keys stand for. */
  onChange(listener: () => void): void
}

/** Follows the others until the gateway closes. */
export async function joinFleet(shared: SharedAccounts, log: Logger, closing: Closing): Promise<Fleet> {
  const { Duty } = await import('../stores/postgres/accounts/duty.ts')
  const { Following } = await import('../stores/postgres/accounts/follow.ts')
  const { postgres, puller } = shared
  const duty = new Duty(postgres, 'webhooks')
  closing.push(() => duty.close())
  const following = new Following({
    ...{ postgres, puller },
    away: error => {
      const what =
        error instanceof StoreUnavailable
          ? 'PostgreSQL cannot be reached'
          : 'changes of accounts cannot be copied from PostgreSQL'
      logFailure(log, error, `${what}: known keys are served, and accounts cannot be changed`)
    },
    back: () => {
      log.info('accounts are copied from PostgreSQL again')
    },
  })
  closing.push(() => following.close())
  return {
    posts: () => duty.isHeld,
    onChange: listener => {
      shared.onTaken(listener)
    },
  }
}
