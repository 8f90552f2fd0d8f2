/** What an actor is. */
import type { JSX } from 'preact';
import { Sign } from '../shared/sign.tsx';
import type { SignName } from '../shared/sign.tsx';

const OF_KINDS: readonly (readonly [RegExp, SignName])[] = [
  [/supervisor/i, 'supervisor'],
  [/^tool|call$/i, 'toolCall'],
  [/subagent|worktree/i, 'subagent'],
  [/schedule/i, 'timer'],
  [/^session/i, 'session'],
  [/^wake/i, 'action'],
  [/^task/i, 'task'],
  [/^run$/i, 'run'],
];

export function ActorSign({ kind }: { readonly kind: string | undefined }): JSX.Element {
  return <Sign of={OF_KINDS.find(([pattern]) => kind !== undefined && pattern.test(kind))?.[1] ?? 'other'} />;
}
