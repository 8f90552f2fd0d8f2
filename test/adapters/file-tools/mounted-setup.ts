/**
 * The file tools over a session with mounts: what the agent shares, its runtime folder, its learnings, a declared
 * folder of each right, and a vault.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SessionEnvironment } from '../../../src/actors/environment/session-environment.ts';
import { NO_SECRETS } from '../../../src/actors/environment/session-secrets.ts';
import { HOST_ENVIRONMENT } from '../../../src/machines/environment/environment-definition.ts';
import type { EnvironmentDefinition } from '../../../src/machines/environment/environment-definition.ts';
import type { Mount } from '../../../src/machines/environment/mount-table.ts';
import type { PermissionSubject } from '../../../src/machines/permission/permission-subject.ts';
import { fileToolsSetup } from './file-tools-setup.ts';
import type { CallOptions, FileToolsSetup, SetupOptions } from './file-tools-setup.ts';

export interface MountedSetup extends Pick<FileToolsSetup, 'workspace' | 'outside' | 'put' | 'tool'> {
  /** The folder that holds them all. */
  readonly top: string;
  readonly environment: SessionEnvironment;
  /** The folder of the host behind a mount. */
  directory(mount: string): string;
  call(name: string, input: unknown, options?: CallOptions): Promise<unknown>;
  subject(name: string, input: unknown): PermissionSubject | undefined;
  /** Puts a file into a folder beside the workspace. */
  putIn(folder: string, path: string, content: string): Promise<string>;
}

export interface MountedOptions extends SetupOptions {
  readonly quota?: EnvironmentDefinition['quota'];
}

export async function mountedSetup({ quota = {}, ...options }: MountedOptions = {}): Promise<MountedSetup> {
  const setup = await fileToolsSetup(options);
  const { workspace } = setup;
  const top = dirname(workspace);
  const folders = {
    '/workspace': 'workspace',
    '/workspace/agent': 'substrate',
    '/runtime': 'runtime',
    '/memory/learnings': 'learnings',
    '/skills': 'skills',
    '/data': 'data',
    '/reference': 'reference',
  };
  const access = {
    '/workspace': 'rw',
    '/workspace/agent': 'ro',
    '/runtime': 'rw',
    '/memory/learnings': 'ro',
    '/skills': 'ro',
    '/data': 'rw',
    '/reference': 'ro',
  } as const;
  const kinds = {
    '/workspace': 'workspace',
    '/workspace/agent': 'agent',
    '/runtime': 'runtime',
    '/memory/learnings': 'learnings',
    '/skills': 'skills',
    '/data': 'declared',
    '/reference': 'declared',
  } as const;
  const paths = Object.keys(folders) as (keyof typeof folders)[];
  for (const path of paths) await mkdir(join(top, folders[path]), { recursive: true });
  const mounts: readonly Mount[] = [
    ...paths.map((path): Mount => ({
      kind: kinds[path],
      path,
      directory: join(top, folders[path]),
      access: access[path],
    })),
    { kind: 'vault', path: '/vaults/github', access: 'none' },
  ];
  const environment: SessionEnvironment = {
    definition: { ...HOST_ENVIRONMENT, quota },
    fingerprint: 'f',
    within: [],
    mounts,
    secrets: NO_SECRETS,
  };
  return {
    ...setup,
    top,
    environment,
    directory: (mount) => join(top, (folders as Readonly<Record<string, string>>)[mount] ?? ''),
    call: (name, input, more = {}) => setup.call(name, input, { environment, ...more }),
    subject: (name, input) => setup.subject(name, input, environment),
    async putIn(folder, path, content) {
      await mkdir(dirname(join(top, folder, path)), { recursive: true });
      await writeFile(join(top, folder, path), content);
      return join(top, folder, path);
    },
  };
}
