/** What a mount does not allow, as errors that tell a model what to do instead. */
import { RuntimeError } from '../../machines/errors.ts';
import { shownPath } from '../../machines/turn/files/file-path.ts';
import type { Root } from './mount-roots.ts';

const INSTEAD: Readonly<Record<Root['kind'], string>> = {
  workspace: 'The environment gives the workspace for reading only.',
  agent:
    'What all sessions of the agent share is changed by promotion only: write it in the workspace, then promote it.',
  runtime: 'Write in the workspace instead.',
  learnings: 'What was learned gets there by itself: name it in the directive that ends the turn.',
  skills: 'Skills are written by people. Work on a copy in the workspace.',
  vault: 'Vaults are written by people.',
  declared: 'The environment gives this folder for reading only. Work on a copy in the workspace.',
  read: 'Work on a copy in the workspace.',
};

export function readOnlyMount(path: string, { kind, mount }: Root): RuntimeError {
  return new RuntimeError(
    'MOUNT_READ_ONLY',
    `cannot write ${shownPath(path)}: ${mount ?? 'the folder that it lies in'} is there for reading only; nothing was written`,
    {
      category: 'permission',
      hint: INSTEAD[kind],
      details: { path, ...(mount === undefined ? {} : { mount }) },
    },
  );
}

export function vaultNotReadable(path: string): RuntimeError {
  return new RuntimeError(
    'VAULT_NOT_READABLE',
    `${shownPath(path)} is in a vault: its secrets have names, and no tool reads them as files`,
    {
      category: 'permission',
      hint: 'Name a secret where it is used: in "secrets" of a command, or in a header of a request.',
      details: { path },
    },
  );
}
