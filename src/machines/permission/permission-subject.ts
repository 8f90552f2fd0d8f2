/** What a tool call would do, in the terms in which it is allowed or denied. */
export type PermissionSubject =
  /** A command line for a POSIX shell, run in this folder (absolute). */
  | {
      readonly kind: 'shell';
      readonly command: string;
      readonly cwd: string;
      /**
       * False for a shell that keeps what earlier commands defined: there `git` may be anything, so no rule allows it.
       * Default true.
       */
      readonly isolated?: boolean | undefined;
    }
  /** A file or folder, absolute or from the workspace, that is read or changed. */
  | {
      readonly kind: 'path';
      readonly path: string;
      readonly access: 'read' | 'write';
      /** Whether the call may reach whatever lies below the folder, as a search does. Default false. */
      readonly reachesBelow?: boolean | undefined;
      /**
       * The mount that it lies in, where that is not the workspace, such as `/runtime`: then the path is as the agent
       * names it.
       */
      readonly mount?: string | undefined;
    }
  /** Nothing that could be told apart: the tool as such. */
  | { readonly kind: 'tool' };
