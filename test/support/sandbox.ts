/**
 * A real sandbox for tests. Where there is none they are skipped and counted, with a word about it; in CI that is a
 * failure.
 */
import { createBubblewrap } from '../../src/adapters/bubblewrap/bubblewrap.ts';
import type { BubblewrapOptions } from '../../src/adapters/bubblewrap/bubblewrap.ts';
import type { CommandSandbox, SandboxScope } from '../../src/actors/environment/command-sandbox.ts';
import type { SessionEnvironment } from '../../src/actors/environment/session-environment.ts';
import { NO_SECRETS } from '../../src/actors/environment/session-secrets.ts';
import type { SessionSecrets } from '../../src/actors/environment/session-secrets.ts';
import { HOST_ENVIRONMENT, SANDBOXED_ENVIRONMENT } from '../../src/machines/environment/environment-definition.ts';
import type { Mount } from '../../src/machines/environment/mount-table.ts';
import { RuntimeError } from '../../src/machines/errors.ts';
import { SESSION_ID } from './session-events.ts';

const availability = await createBubblewrap().availability();

/** For `describe.skipIf(!hasSandbox)`. */
export const hasSandbox = availability.kind === 'available';

if (availability.kind === 'missing') {
  const word = `sandbox: ${availability.reason}; nobody tests what it keeps in. ${availability.hint}`;
  if (process.env['CI'] === 'true') throw new Error(word);
  process.stderr.write(`${word}\n`);
}

export const isRoot = process.getuid?.() === 0;

export interface SandboxRequest extends Partial<Pick<SandboxScope, 'network' | 'maxFileBytes'>> {
  readonly workspace: string;
  /** Besides the workspace. */
  readonly mounts?: readonly Mount[];
  readonly options?: BubblewrapOptions;
}

function mountsOf({ workspace, mounts = [] }: Pick<SandboxRequest, 'workspace' | 'mounts'>): readonly Mount[] {
  return [{ kind: 'workspace', path: '/workspace', directory: workspace, access: 'rw' }, ...mounts];
}

export function openSandbox({
  network = 'disabled',
  options,
  maxFileBytes,
  ...places
}: SandboxRequest): Promise<CommandSandbox> {
  return createBubblewrap(options).open({
    sessionId: SESSION_ID,
    network,
    mounts: mountsOf(places),
    workspaceDirectory: places.workspace,
    maxFileBytes,
  });
}

export interface EnvironmentRequest extends SandboxRequest {
  readonly secrets?: SessionSecrets;
  readonly fingerprint?: string;
  readonly variables?: { readonly pass: string[]; readonly set: Record<string, string> };
}

/** In a sandbox. */
export async function shutIn({
  secrets = NO_SECRETS,
  fingerprint = 'one',
  variables = { pass: [], set: {} },
  ...request
}: EnvironmentRequest): Promise<SessionEnvironment> {
  return {
    definition: { ...SANDBOXED_ENVIRONMENT, variables },
    fingerprint,
    within: [],
    mounts: mountsOf(request),
    sandbox: await openSandbox(request),
    secrets,
  };
}

/** On the host. */
export function leftOpen({
  workspace,
  secrets = NO_SECRETS,
  fingerprint = 'open',
  variables = { pass: [], set: {} },
}: EnvironmentRequest): SessionEnvironment {
  return {
    definition: { ...HOST_ENVIRONMENT, variables },
    fingerprint,
    within: [],
    mounts: mountsOf({ workspace }),
    secrets,
  };
}

/** Secrets whose values are known: taken out of texts and of bytes, wherever these are cut. */
export function knownSecrets(values: Readonly<Record<string, string>>): SessionSecrets {
  const text = (given: string): string =>
    Object.entries(values).reduce((rest, [name, value]) => rest.replaceAll(value, `[${name}]`), given);
  return {
    ...NO_SECRETS,
    names: Object.keys(values).map((reference) => ({ reference, hosts: [], isForCommands: true })),
    forCommand(reference) {
      const value = values[reference];
      if (value === undefined)
        throw new RuntimeError('SECRET_UNKNOWN', `there is no secret ${reference}`, { category: 'permission' });
      return value;
    },
    text,
    bytes() {
      let held = Buffer.alloc(0);
      const longest = Math.max(...Object.values(values).map((value) => value.length));
      return {
        add(piece) {
          const all = Buffer.from(text(Buffer.concat([held, piece]).toString('latin1')), 'latin1');
          const cut = Math.max(0, all.length - longest + 1);
          held = all.subarray(cut);
          return all.subarray(0, cut);
        },
        end: () => held,
      };
    },
  };
}
