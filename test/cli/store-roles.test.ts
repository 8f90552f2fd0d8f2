/** `wakechart store roles`: statements for an administrator, who runs them with whatever he has. */
import { afterEach, describe, expect, it } from 'vitest';
import { postgresRoles } from '../../src/adapters/postgres/roles.ts';
import { Stage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

describe('the roles of a database', () => {
  it('are printed as statements and nothing else, for the schema of the store', async () => {
    stage = await Stage.open();
    expect(await stage.run('store', 'roles')).toEqual({ code: 0, stdout: postgresRoles(), stderr: '' });
    const named = await stage.run(
      'store',
      'roles',
      '--owner',
      'boss',
      '--runtime',
      'acme_worker',
      '--monitor',
      'eye',
      '--tenant',
      'acme',
      '--store',
      'postgres://nobody:secret@nowhere.invalid/work?schema=team_a',
    );
    expect(named).toEqual({
      code: 0,
      stdout: postgresRoles({
        schema: 'team_a',
        owner: 'boss',
        runtime: 'acme_worker',
        monitor: 'eye',
        tenant: 'acme',
      }),
      stderr: '',
    });
    expect(JSON.parse((await stage.run('store', 'roles', '--schema', 'team_b', '--json')).stdout)).toEqual({
      statements: postgresRoles({ schema: 'team_b' }),
    });
  });

  it('are refused under names that could be anything but a name', async () => {
    stage = await Stage.open();
    const refused = await stage.run('store', 'roles', '--runtime', 'a"; DROP SCHEMA wakechart');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('STORE_OPTIONS_INVALID');
  });
});
