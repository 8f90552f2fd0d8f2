/** The oldest PostgreSQL that is supported is there for tests, where Debian's package is installed. */
import { describe, expect, it } from 'vitest';
import { ask } from '../../support/postgres-databases.ts';
import { debianServer, hasDebianPostgres } from '../../support/postgres-server.ts';

describe.skipIf(!hasDebianPostgres)('the PostgreSQL of Debian', () => {
  it('is version 15, with the same users and databases as the one that comes with npm', async () => {
    const debian = await debianServer();
    expect(await ask(debian?.url() ?? '', 'SHOW server_version')).toMatchObject([
      { server_version: expect.stringMatching(/^15\./) as string },
    ]);
    await debian?.remove();
  });
});
