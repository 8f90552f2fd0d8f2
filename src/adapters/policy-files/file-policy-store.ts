/** The policy as files: `<directory>/<agentId>.yaml`, and `all.yaml` for every agent, which only people write. */
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { Clock } from '../../actors/clock/clock.ts';
import { isoTimeOf } from '../../actors/clock/iso-time.ts';
import type { KeptRule, PolicyStore } from '../../actors/permission/permission-ports.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { agentId as agentIdSchema } from '../../machines/ids.ts';
import type { PermissionRule } from '../../machines/permission/permission-rule.ts';
import { checkRule, formatRule, parseRule } from '../../machines/permission/permission-rule.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { hasCode } from '../system/error-codes.ts';
import { readOwnText, requireOwnFolder, UnusableFile } from '../system/own-files.ts';
import { underLock } from '../system/process-lock.ts';
import { makeFolder, replaceFile } from '../system/whole-files.ts';
import { policyBusy, policyExposed, policyUnreadable, policyUnwritable } from './policy-errors.ts';
import { MAX_POLICY_BYTES, parsePolicy, withoutRule, withRule } from './policy-text.ts';

/** The name of the file for every agent, and so of none. */
const EVERY_AGENT = 'all';

export interface FilePolicyStoreOptions {
  /** Absolute; made with the first rule. It must lie outside every workspace: see `assertPolicyOutside`. */
  readonly directory: string;
  readonly clock: Pick<Clock, 'now'>;
}

export class FilePolicyStore implements PolicyStore {
  readonly #directory: string;
  readonly #clock: Pick<Clock, 'now'>;

  constructor({ directory, clock }: FilePolicyStoreOptions) {
    this.#directory = directory;
    this.#clock = clock;
  }

  async rules(agentId: string): Promise<readonly KeptRule[]> {
    const id = checkedAgent(agentId);
    // Read anew each time: a rule that forbids something counts from the moment it is written.
    const names = id === EVERY_AGENT ? [EVERY_AGENT] : [EVERY_AGENT, id];
    return names.flatMap((name) => {
      const source = readPolicyFile(this.#pathOf(name));
      return source === undefined
        ? []
        : parsePolicy({ source, fileName: fileNameOf(name), isForEveryAgent: name === EVERY_AGENT });
    });
  }

  async keep(agentId: string, rule: PermissionRule, { by }: Parameters<PolicyStore['keep']>[2]): Promise<void> {
    const checked = checkRule(rule);
    const text = formatRule(checked);
    await this.#change(agentId, (source, rules) => {
      if (rules.some((kept) => formatRule(kept.rule) === text)) return source;
      return withRule(source, { rule: checked, since: isoTimeOf(this.#clock.now()), by });
    });
  }

  async remove(agentId: string, ruleText: string): Promise<boolean> {
    const text = formatRule(parseRule(ruleText));
    let isRemoved = false;
    await this.#change(agentId, (source, rules) => {
      // From behind, so that the places of those before stay the same.
      const places = rules.flatMap(({ rule }, index) => (formatRule(rule) === text ? [index] : [])).toReversed();
      isRemoved = places.length > 0;
      return places.reduce(withoutRule, source);
    });
    return isRemoved;
  }

  async #change(agentId: string, changed: (source: string, rules: readonly KeptRule[]) => string): Promise<void> {
    const id = checkedAgent(agentId);
    if (id === EVERY_AGENT) throw reserved();
    const path = this.#pathOf(id);
    await makePolicyFolder(this.#directory);
    try {
      await underLock(
        join(this.#directory, `.${id}.lock`),
        async () => {
          const source = readPolicyFile(path) ?? '';
          const next = changed(source, parsePolicy({ source, fileName: fileNameOf(id), isForEveryAgent: false }));
          if (next === source) return;
          // What is written must be what is read, or the agent would be left without a policy.
          parsePolicy({ source: next, fileName: fileNameOf(id), isForEveryAgent: false });
          await replacePolicyFile(path, next);
        },
        (waitedMs) => policyBusy(path, waitedMs),
      );
    } catch (error) {
      throw RuntimeError.is(error) ? error : policyUnwritable(path, error);
    }
  }

  #pathOf(name: string): string {
    return join(this.#directory, fileNameOf(name));
  }
}

function fileNameOf(name: string): string {
  return `${name}.yaml`;
}

function checkedAgent(agentId: string): string {
  return parseOrThrow(agentIdSchema, agentId, { what: 'agent id', code: 'AGENT_INVALID' });
}

function reserved(): RuntimeError {
  return new RuntimeError(
    'POLICY_RESERVED',
    `the rules of "${EVERY_AGENT}" are for every agent, and only people write them`,
    {
      category: 'permission',
      hint: `Edit ${fileNameOf(EVERY_AGENT)} in the folder of the policy yourself, or give the agent another name.`,
    },
  );
}

// Reads and replaces policy files, and refuses those that another user may have put there: links, and what others may
// write.

const OWN_IT = 'Make it a real file in a real folder that only you can write (chmod go-w).';

/**
 * The content of the file; undefined when it is not there. Every call of a tool asks, and most files are not there.
 * @throws RuntimeError POLICY_INVALID
 */
function readPolicyFile(path: string): string | undefined {
  try {
    requireOwnFolder(dirname(path), 'writers');
    return readOwnText(path, { maxBytes: MAX_POLICY_BYTES, keptFrom: 'writers' })?.text;
  } catch (error) {
    throw unreliable(path, error);
  }
}

/** Makes the folder of the policy, for its owner only. @throws RuntimeError POLICY_INVALID or STORAGE_FAILED */
async function makePolicyFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
    requireOwnFolder(folder, 'writers');
  } catch (error) {
    throw error instanceof UnusableFile ? unreliable(folder, error) : policyUnwritable(folder, error);
  }
}

/** Puts the content in the place of the file. @throws RuntimeError STORAGE_FAILED */
async function replacePolicyFile(path: string, content: string): Promise<void> {
  await replaceFile(path, content).catch((error: unknown) => {
    throw policyUnwritable(path, error);
  });
}

/**
 * A policy that lies where an agent writes is none. Both folders are followed to where they really are.
 * @throws RuntimeError POLICY_INVALID
 */
export async function assertPolicyOutside({
  directory,
  workspaceDirectory,
}: {
  readonly directory: string;
  readonly workspaceDirectory: string;
}): Promise<void> {
  const [policy, workspace] = await Promise.all([realPlace(directory), realPlace(workspaceDirectory)]);
  const from = relative(workspace, policy);
  const isOutside = from === '..' || from.startsWith(`..${sep}`) || join(workspace, from) !== policy;
  if (!isOutside)
    throw policyExposed(
      directory,
      `it lies in the workspace ${workspaceDirectory}, where its agent can write`,
      'Keep the policy in a folder that is in no workspace.',
    );
}

/** Where a path really is; of what does not exist yet, where the folder is in which it would be made. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) throw policyUnreadable(path, error);
    return join(await realPlace(dirname(path)), basename(path));
  }
}

function unreliable(path: string, error: unknown): unknown {
  if (!(error instanceof UnusableFile)) return policyUnreadable(path, error);
  if (error.trouble === 'unreadable') return policyUnreadable(path, error.cause);
  return policyExposed(
    path,
    `it ${error.message}`,
    error.trouble === 'damaged' ? 'Remove the rules that are not needed, and save it as UTF-8.' : OWN_IT,
  );
}
