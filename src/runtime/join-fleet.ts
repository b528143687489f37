/** Joins a gateway to the others that share its accounts: it follows what they change, and one of all does what is done once for all. */
import { logFailure } from '../observe/log.ts'
import type { Logger } from '../observe/log.ts'
import { StoreUnavailable } from '../ports/store-unavailable.ts'
import type { SharedAccounts } from '../stores/postgres/accounts/open.ts'
import type { Query } from '../stores/postgres/postgres.ts'
import type { Closing } from './closing.ts'

/** To read the audit trail for events and post to the webhooks of accounts; to post to the operator's. */
export type DutyName = 'webhooks' | 'operator-webhook'

/** This gateway among those that share accounts. */
export interface Fleet {
  /** Whether other gateways may share its accounts. */
  readonly isShared: boolean
  /** Joins those of which one at a time does something for all; returns whether it is this one. */
  share(duty: DutyName, isWanted?: () => boolean): () => boolean
  /** Calls `listener` when another gateway has changed what keys stand for. */
  onChange(listener: () => void): void
  /** Whether the database behind a connection is the one whose accounts this gateway has: no other is written to. */
  isOurs(query: Query): Promise<boolean>
}

/** Follows the others until the gateway closes. */
export async function joinFleet(shared: SharedAccounts, log: Logger, closing: Closing): Promise<Fleet> {
  const { Duty } = await import('../stores/postgres/accounts/duty.ts')
  const { Following } = await import('../stores/postgres/accounts/follow.ts')
  const { postgres, puller } = shared
  const following = new Following({
    postgres,
    puller,
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
    isShared: true,
    share: (name, isWanted) => {
      const duty = new Duty(postgres, name, isWanted)
      closing.push(() => duty.close())
      return () => duty.isHeld
    },
    onChange: listener => {
      shared.onTaken(listener)
    },
    isOurs: query => puller.isOurs(query),
  }
}
