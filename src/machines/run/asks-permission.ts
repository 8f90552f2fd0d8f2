/**
 * Whether the program behind a provider asks before it acts, as far as its settings tell. One that never does is bound
 * by no permissions of ours.
 */
import { KNOWN_PROVIDERS } from './provider-settings.ts';
import type { ProviderSettings, ProviderTable } from './provider-settings.ts';

/** Modes of Claude Code in which it still asks for what it may not do. */
const ASKING_MODES: readonly unknown[] = ['default', 'plan'];

/** What makes Codex ask for nothing that it does in its sandbox, or at all. */
const BYPASSES: readonly string[] = ['dangerously-bypass-approvals-and-sandbox', 'yolo'];

/** Modes of agents that speak ACP in which they do without asking what we would judge. */
const DECIDING_MODES: readonly unknown[] = ['acceptEdits', 'auto', 'autoEdit', 'bypassPermissions', 'dontAsk', 'yolo'];

/** @param mode of an agent that speaks ACP, by its id */
export function decidesByItself(mode: unknown): mode is string {
  return DECIDING_MODES.includes(mode);
}

/** `where_bound`: only where it is told that permissions bind it. @param own by provider name, before the known ones */
export function providerAsks(provider: string, own: ProviderTable = {}): boolean | 'where_bound' {
  const settings = Object.hasOwn(own, provider)
    ? own[provider]
    : Object.hasOwn(KNOWN_PROVIDERS, provider)
      ? KNOWN_PROVIDERS[provider]
      : undefined;
  return settings === undefined || settingsAsk(settings);
}

function settingsAsk({ backend, dialect, options = {} }: ProviderSettings): boolean | 'where_bound' {
  // It is held to a mode in which it asks only where it is told that permissions bind it.
  if (backend === 'acp')
    return [options['mode'], ...modesAmong(options['settings'])].some(decidesByItself) ? false : 'where_bound';
  if (backend !== 'cli-agent' || dialect === undefined) return true;
  if (dialect === 'codex') return codexAsks(options);
  const { 'permission-mode': mode = 'default', 'dangerously-skip-permissions': skips = false } = options;
  return skips === false && ASKING_MODES.includes(mode);
}

function codexAsks(options: NonNullable<ProviderSettings['options']>): boolean | 'where_bound' {
  if (BYPASSES.some((name) => options[name] === true)) return false;
  const policy = options['ask-for-approval'];
  return policy === undefined ? 'where_bound' : policy === 'untrusted';
}

/** Agents call such a setting as they like: `mode`, `permission_mode`, `approvalMode`. */
function modesAmong(settings: unknown): readonly unknown[] {
  if (typeof settings !== 'object' || settings === null) return [];
  return Object.entries(settings).flatMap(([name, value]) => (/mode$/i.test(name) ? [value as unknown] : []));
}
