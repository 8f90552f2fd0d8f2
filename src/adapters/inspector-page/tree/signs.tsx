/** Small signs: what an actor is, and how it stands. Each has a form of its own, since color alone says nothing to many. */
import type { JSX } from 'preact';

/** In a square of sixteen, as lines. */
const SIGNS = {
  open: 'M4.5 6.5 8 10l3.5-3.5',
  closed: 'M6.5 4.5 10 8l-3.5 3.5',
  running: 'M8 4.6a3.4 3.4 0 1 0 0 6.8a3.4 3.4 0 1 0 0-6.8Z',
  waiting: 'M5.8 4.5v7M10.2 4.5v7',
  done: 'M3.8 8.4 6.8 11.2 12.2 5',
  error: 'M4.5 4.5l7 7M11.5 4.5l-7 7',
  stopped: 'M5 5h6v6H5Z',
  supervisor: 'M8 3.2v3.6M3.8 12.6V9.4h8.4v3.2M8 6.8v5.8',
  task: 'M5.2 3.8v8.4L12 8Z',
  session: 'M2.8 3.6h10.4v7H8l-3 2.6v-2.6H2.8Z',
  wake: 'M8.8 2.4 4.2 9h3.6l-.8 4.6L11.8 7H8.2Z',
  toolCall: 'M5.4 3.6C3.6 3.6 5 8 3 8c2 0 .6 4.4 2.4 4.4M10.6 3.6c1.8 0 .4 4.4 2.4 4.4c-2 0-.6 4.4-2.4 4.4',
  subagent: 'M4.4 2.8v10.4M4.4 9.4c4.4 0 7.2-1 7.2-5M9.6 5.4l2-2 2 2',
  run: 'M12.6 8A4.6 4.6 0 1 1 10.8 4.3M10.9 2v2.6H8.3',
  schedule: 'M8 2.8a5.2 5.2 0 1 0 0 10.4A5.2 5.2 0 1 0 8 2.8ZM8 5v3.2l2.2 1.4',
  other: 'M8 6.2a1.8 1.8 0 1 0 0 3.6a1.8 1.8 0 1 0 0-3.6Z',
} as const;

export type SignName = keyof typeof SIGNS;

const OF_KINDS: readonly (readonly [RegExp, SignName])[] = [
  [/supervisor/i, 'supervisor'],
  [/^tool|call$/i, 'toolCall'],
  [/subagent|worktree/i, 'subagent'],
  [/schedule/i, 'schedule'],
  [/^session/i, 'session'],
  [/^wake/i, 'wake'],
  [/^task/i, 'task'],
  [/^run$/i, 'run'],
];

export function Sign({ of }: { readonly of: SignName }): JSX.Element {
  return <svg class={`sign sign-${of}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d={SIGNS[of]} /></svg>;
}

export function ActorSign({ kind }: { readonly kind: string | undefined }): JSX.Element {
  return <Sign of={OF_KINDS.find(([pattern]) => kind !== undefined && pattern.test(kind))?.[1] ?? 'other'} />;
}
