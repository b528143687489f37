/** All operations of the admin API. */
import { accountOperations } from './accounts.ts'
import { auditOperations } from './audit.ts'
import { endpointOperations } from './endpoints.ts'
import { keyOperations } from './keys.ts'
import type { Operation } from './operation.ts'
import { usageOperations } from './usage.ts'

export const OPERATIONS: readonly Operation[] = [
  ...accountOperations,
  ...endpointOperations,
  ...usageOperations,
  ...auditOperations,
  ...keyOperations,
]
