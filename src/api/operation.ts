/** An operation of the admin API: one row says how it is asked, who may, what it answers, and is shown in the OpenAPI document. */
import type { Account } from '../ports/accounts.ts'
import type { Accounts } from '../ports/accounts.ts'
import type { Alerts } from '../ports/alerts.ts'
import type { Audit, Author } from '../ports/audit.ts'
import type { Endpoints } from '../ports/endpoints.ts'
import type { Ledger } from '../ports/ledger.ts'
import type { Keys } from '../ports/keys.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import type { Scope, Tokens } from '../ports/tokens.ts'
import type { ServiceReply } from '../management/types.ts'
import type { Snapshot } from '../snapshot/types.ts'
import type { Fields, ValuesOf } from './fields.ts'
import type { Problem } from './problem.ts'
import type { SchemaName } from './schemas.ts'

/** What the operations work on. */
export interface ApiParts {
  readonly accounts: Accounts
  readonly endpoints: Endpoints
  readonly keys: Pick<Keys, 'find'>
  readonly tokens: Pick<Tokens, 'find'>
  readonly audit: Audit
  readonly alerts: Pick<Alerts, 'webhook' | 'setWebhook'>
  readonly usage: Pick<Ledger, 'sum'>
  /** What is known of the calls of a request. */
  readonly calls: { find(requestId: string): Promise<readonly object[]> }
  readonly snapshot: () => Snapshot
  /** Calls a management method for an account. */
  readonly manage: (
    method: string,
    params: object | undefined,
    caller: { readonly account: Account; readonly by: Author },
  ) => Promise<ServiceReply>
}

/** What was asked. */
export interface Asked<Q extends Fields, R extends Fields, O extends Fields> {
  /** What stands in the path; empty where nothing does. */
  readonly id: string
  readonly query: Partial<ValuesOf<Q>>
  readonly body: ValuesOf<R> & Partial<ValuesOf<O>>
  readonly by: Author
}

/** What is answered: JSON, as a value or as text. */
export type ApiAnswer =
  { readonly json: unknown; readonly location?: string } | { readonly text: string } | Problem

/** One operation. */
export interface Operation<Q extends Fields = Fields, R extends Fields = Fields, O extends Fields = Fields> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  /** Its name in generated clients. */
  readonly id: string
  readonly summary: string
  readonly scope: Scope
  readonly query: Q
  /** The members of the body; null where there is none. */
  readonly body: { readonly required: R; readonly optional: O } | null
  /** Whether it is carried out once for each Idempotency-Key. */
  readonly isOnce: boolean
  readonly status: 200 | 201 | 204
  /** What it answers; null is nothing. */
  readonly reply: SchemaName | null
  run(asked: Asked<Q, R, O>, parts: ApiParts): MaybePromise<ApiAnswer>
}

type Row<Q extends Fields, R extends Fields, O extends Fields> = Pick<
  Operation<Q, R, O>,
  'method' | 'path' | 'id' | 'summary' | 'scope' | 'reply' | 'run'
> &
  Partial<Pick<Operation<Q, R, O>, 'query' | 'status' | 'isOnce'>> & {
    readonly body?: { readonly required?: R; readonly optional?: O }
  }

/** No fields. */
type None = Readonly<Record<string, never>>

/** Makes a row whole. */
export function operation<Q extends Fields = None, R extends Fields = None, O extends Fields = None>(
  row: Row<Q, R, O>,
): Operation {
  const { body, ...rest } = row
  const whole: Operation<Q, R, O> = {
    query: {} as Q,
    status: 200,
    isOnce: false,
    ...rest,
    body:
      body === undefined
        ? null
        : { required: body.required ?? ({} as R), optional: body.optional ?? ({} as O) },
  }
  // The values that it is run with are read by its own fields.
  return whole
}
