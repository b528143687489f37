/** A large installation of one machine moves to PostgreSQL. */
import t from 'tap'
import { noServers } from '../../../support/servers.ts'
import { migratesTwice } from './migration.ts'

t.test('100 000 endpoints are migrated, and a second time changes nothing', { skip: noServers }, t =>
  migratesTwice(t, 100_000),
)
