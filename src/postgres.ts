/** `wakechart/postgres`: one PostgreSQL for any number of workers. Needs the package `pg`. */
export { PostgresEventStore } from './adapters/postgres/postgres-event-store.ts';
export type { PostgresEventStoreOptions, PostgresPlace } from './adapters/postgres/postgres-options.ts';
export type { PostgresDatabase } from './adapters/postgres/postgres-database.ts';
export { checkPostgres, migratePostgres } from './adapters/postgres/migrate.ts';
export type { MigrationReport, SchemaState } from './adapters/postgres/migrate.ts';
export { createPostgresCandidateHealthStore } from './adapters/postgres/candidate-health-store.ts';
export { createPostgresFleet } from './adapters/postgres/fleet.ts';
export { createPostgresWorkspaceCopyStore } from './adapters/postgres/workspace-copy-store.ts';
export { createPostgresJobRecords } from './adapters/postgres/job-records.ts';
export type { PostgresJobRecords } from './adapters/postgres/job-records.ts';
export { createPostgresPolicyStore } from './adapters/postgres/policy-store.ts';
export { createPostgresScheduleStore } from './adapters/postgres/schedule-store.ts';
export { postgresRoles } from './adapters/postgres/roles.ts';
