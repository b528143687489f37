/** Rows for the operator's standing with a provider: keys, plans, credit. */
import type { ErrorRow } from '../../snapshot/types.ts'
import { codeRow, everyCodeRows, textRows } from './row.ts'

/** Credit, quota and plan. */
export const CREDIT: readonly ErrorRow[] = textRows('billing', [
  'exceeded the quota usage',
  'you have hit the limit for your current plan',
  'monthly capacity limit exceeded',
  'monthly quota exceeded',
  'monthly request limit',
  'quota exceeded',
  '*quota exceeded',
  '*reached the quota',
  '*reached the free tier',
  '*reached your monthly',
  'insufficient credits',
  'not enough credits',
  'out of credits',
  'no credits left',
  'credits exhausted',
  'plan limit reached',
  'daily limit reached',
  'payment required',
  'subscription expired',
  'subscription * expired',
  'your trial has expired',
  'please upgrade your plan',
])

/** Keys and accounts: Alchemy, Infura, Ankr, dRPC, NodeReal, GetBlock, Tatum, OnFinality, public Solana endpoints. */
export const STANDING: readonly ErrorRow[] = [
  ...everyCodeRows('billing', [
    'must be authenticated',
    'invalid api key',
    'invalid access key',
    'invalid project id',
  ]),
  ...textRows('billing', [
    'unauthorized',
    'unauthenticated',
    'authentication required',
    'access denied',
    'forbidden',
    'access forbidden',
    'project id is required',
    'project not found',
    'api key is inactive',
    'api key is not allowed to access',
    'api key disabled',
    'api key not found',
    'api key expired',
    'api key required',
    'missing api key',
    'api key * is invalid',
    '*message token is invalid',
    'token is invalid',
    'token expired',
    'app is inactive',
    'app disabled',
    'account is suspended',
    'account suspended',
    'account disabled',
    'account is disabled',
    'rejected due to project id settings',
    'unspecified origin not on whitelist',
    'ip address not on whitelist',
    'your ip or provider is blocked',
    '*is on another chain',
    '*is not enabled for this app',
  ]),
]

/** HTTP statuses told in the body. */
export const STANDING_CODES: readonly ErrorRow[] = [codeRow('billing', [401, 402, 403])]
