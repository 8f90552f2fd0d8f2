/** What can be wrong with a call of a shell tool, in words for a model. */
import { RuntimeError } from '../../machines/errors.ts';
import { MAX_OPEN_SHELLS, MAX_SHELLS_PER_SESSION } from '../../machines/turn/shell/shell-limits.ts';

export function shellNotOpen(shell: string): RuntimeError {
  return new RuntimeError(
    'SHELL_CLOSED',
    `no shell "${shell}" is open: it was never opened or was closed long ago, or the runtime restarted and nothing is known of it`,
    {
      category: 'not_found',
      hint: 'Open another with shell_open. Its folder and variables begin anew.',
      details: { shell },
    },
  );
}

/** @param ended why, as a clause: "its command ended it with exit code 1" */
export function shellEnded(shell: string, ended: string): RuntimeError {
  return new RuntimeError('SHELL_CLOSED', `the shell "${shell}" is not open any more: ${ended}`, {
    category: 'not_found',
    hint: 'Open another with shell_open. Its folder and variables begin anew.',
    details: { shell, ended },
  });
}

export function shellBusy(shell: string, doing: string): RuntimeError {
  return new RuntimeError('SHELL_BUSY', `the shell "${shell}" is busy: ${doing}`, {
    category: 'conflict',
    hint: 'Wait for it with shell_wait, open another shell for work beside it, or end it with shell_close.',
    details: { shell },
  });
}

export function shellAtRest(shell: string): RuntimeError {
  return new RuntimeError(
    'SHELL_AT_REST',
    `nothing runs in the shell "${shell}" and it has run nothing that could be waited for`,
    {
      category: 'conflict',
      hint: 'Run a command with shell_exec first.',
      details: { shell },
    },
  );
}

export function shellIsOpen(shell: string): RuntimeError {
  return new RuntimeError('SHELL_ALREADY_OPEN', `a shell "${shell}" is open already`, {
    category: 'conflict',
    hint: 'Use it, or give the new one another name.',
    details: { shell },
  });
}

export function tooManyShells(whose: 'session' | 'runtime'): RuntimeError {
  const [limit, where] =
    whose === 'session' ? [MAX_SHELLS_PER_SESSION, 'this session'] : [MAX_OPEN_SHELLS, 'this runtime'];
  return new RuntimeError('SHELL_LIMIT', `${where} has ${limit} shells open, as many as it may`, {
    category: 'capacity',
    hint:
      whose === 'session'
        ? 'Close one that is not needed with shell_close.'
        : 'Use shell_run, or try again when others have closed theirs.',
    details: { limit },
  });
}

export function shellDidNotOpen(shell: string, reason: string, cause?: unknown): RuntimeError {
  return new RuntimeError('SHELL_NOT_OPENED', `the shell "${shell}" could not be opened: ${reason}`, {
    category: 'process',
    hint: 'Try again once, or run the command with shell_run, which needs no open shell.',
    details: { shell },
    cause,
  });
}

export function shellFolderGone(shell: string): RuntimeError {
  return new RuntimeError(
    'SHELL_FOLDER_GONE',
    `the folder that the shell "${shell}" is in is not there any more, so nothing can be said of where a command would run`,
    {
      category: 'conflict',
      hint: 'Move it with shell_set_cwd.',
      details: { shell },
    },
  );
}

export function shellFolderRefused(shell: string, folder: string): RuntimeError {
  return new RuntimeError('SHELL_FOLDER_REFUSED', `the shell "${shell}" cannot enter ${folder}`, {
    category: 'validation',
    hint: 'Name an existing folder that may be entered.',
    details: { shell, folder },
  });
}

/** Nothing has run. Both folders absolute. */
export function folderChanged({
  allowed,
  folder,
}: {
  readonly allowed: string;
  readonly folder: string;
}): RuntimeError {
  return new RuntimeError(
    'FOLDER_CHANGED',
    `the call was allowed for the folder ${allowed}, and would now happen in ${folder}; nothing was done`,
    {
      category: 'conflict',
      hint: 'Something was moved or replaced in between. Make the call again, so that it can be allowed for where it happens.',
      details: { allowed, folder },
    },
  );
}

export function shellVariableRefused(shell: string, name: string): RuntimeError {
  return new RuntimeError(
    'SHELL_VARIABLE_REFUSED',
    `the shell "${shell}" does not let the variable ${name} be changed`,
    {
      category: 'validation',
      hint: 'It is read-only in that shell: open another one.',
      details: { shell, name },
    },
  );
}

export function shellsAreClosed(): RuntimeError {
  return new RuntimeError('SHELLS_CLOSED', 'the runtime is shutting down and opens no shells', {
    category: 'conflict',
    hint: 'Go on with the next wake: it is in a new runtime.',
  });
}

/** The process that had it has ended; what was open in it is known, what ran in it is not. */
export function shellOfAnotherProcess(shell: string): RuntimeError {
  return new RuntimeError(
    'SHELL_CLOSED',
    `the process in which the shell "${shell}" was open has ended, and its last command with it; how far that came is not known`,
    {
      category: 'not_found',
      hint: 'Use the shell with shell_exec: it is opened again, in its folder and with its variables.',
      details: { shell },
    },
  );
}

export function noSecretsHere(): RuntimeError {
  return new RuntimeError('SECRET_UNKNOWN', 'this runtime knows of no vaults, so a command cannot be given a secret', {
    category: 'permission',
    hint: 'Leave "secrets" out.',
  });
}
