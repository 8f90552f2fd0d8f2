/**
 * Whether the program behind a provider asks before it acts, as far as its settings tell. One that never does is bound
 * by no permissions of ours.
 */
import { KNOWN_PROVIDERS } from './provider-settings.ts';
import type { ProviderSettings, ProviderTable } from './provider-settings.ts';

/** Modes of Claude Code in which it still asks for what it may not do. */
const ASKING_MODES: readonly unknown[] = ['default', 'plan'];

/** Modes of agents that speak ACP in which they do without asking what we would judge. */
const DECIDING_MODES: readonly unknown[] = ['acceptEdits', 'auto', 'autoEdit', 'bypassPermissions', 'dontAsk', 'yolo'];

/** @param mode of an agent that speaks ACP, by its id */
export function decidesByItself(mode: unknown): boolean {
  return DECIDING_MODES.includes(mode);
}

/** @param own by provider name, before the known ones */
export function providerAsks(provider: string, own: ProviderTable = {}): boolean {
  const settings = Object.hasOwn(own, provider)
    ? own[provider]
    : Object.hasOwn(KNOWN_PROVIDERS, provider)
      ? KNOWN_PROVIDERS[provider]
      : undefined;
  return settings === undefined || settingsAsk(settings);
}

function settingsAsk({ backend, dialect, options = {} }: ProviderSettings): boolean {
  if (backend === 'acp') return ![options['mode'], modeAmong(options['settings'])].some(decidesByItself);
  if (backend !== 'cli-agent' || dialect === undefined) return true;
  if (dialect === 'codex') return false;
  const { 'permission-mode': mode = 'default', 'dangerously-skip-permissions': skips = false } = options;
  return skips === false && ASKING_MODES.includes(mode);
}

function modeAmong(settings: unknown): unknown {
  return typeof settings === 'object' && settings !== null && 'mode' in settings ? settings.mode : undefined;
}
