/**
 * Decides, at the effect, whether a tool call may run now: from the rules of the agent, of the policy and of the
 * session, and from what a person has answered. What cannot be decided asks; where no person can be asked, it is
 * denied.
 */
import { messageOf } from '../../machines/errors.ts';
import { checkOf } from '../../machines/permission/command-check.ts';
import { isTakenAway, ownBounds, ruleText } from '../../machines/permission/handed-down.ts';
import { decidePermission, unsafe } from '../../machines/permission/permission-decision.ts';
import type { PermissionDecision, PermissionQuestion } from '../../machines/permission/permission-decision.ts';
import { parseRule } from '../../machines/permission/permission-rule.ts';
import type { PermissionRule } from '../../machines/permission/permission-rule.ts';
import type { PermissionSubject } from '../../machines/permission/permission-subject.ts';
import { DEFAULT_PERMISSION_SECONDS } from '../../machines/session/limits.ts';
import type { AllowedBy } from '../../machines/session/event-parts.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { OpenToolCall, SessionState } from '../../machines/session/session-state.ts';
import type { ToolCallInput } from '../../machines/turn/tool-call-machine.ts';
import { isoTimeOf } from '../clock/iso-time.ts';
import type { Clock } from '../clock/clock.ts';
import type { GrantPlace } from '../permission/grant-hash.ts';
import { environmentHash, grantHash, movingEnvironmentHash, placeInWorkspace } from '../permission/grant-hash.ts';
import type { CommandPlaces, PlaceGuard, PolicyStore, ReadShell } from '../permission/permission-ports.ts';
import type { SessionIdentity } from '../session/event-store.ts';
import type { Tool, PreparedAgent } from '../turn/tool.ts';
import { guardedPlace } from './guarded-places.ts';
import type { GuardedCall } from './guarded-places.ts';

export interface GatePorts {
  readonly clock: Clock;
  readonly readShell: ReadShell | undefined;
  readonly policy: PolicyStore | undefined;
  /** Knows the folders of the runtime's own. Without it none is guarded. */
  readonly guard: PlaceGuard | undefined;
  /** Checks where commands lead that are known to read only. Without it they ask. */
  readonly places: CommandPlaces | undefined;
  /** Whether a person can be asked. */
  readonly humans: 'reachable' | 'none';
}

export interface GateOptions extends GatePorts {
  readonly agent: PreparedAgent;
  readonly session: SessionIdentity;
  /**
   * Whether the session works in a workspace of its own that goes from machine to machine: then what is allowed goes
   * with it. Default false.
   */
  readonly moves?: boolean | undefined;
  readonly newId: () => string;
  /** Hears of a rule that could not be kept. */
  readonly onTrouble: (error: unknown) => void;
}

/** A call whose input is known to be what its tool expects, with what the tool says of it. */
export interface CheckedCall {
  readonly call: ToolCallInput;
  readonly tool: Tool;
  /** What it would do. */
  readonly subject: PermissionSubject;
  /** Of a tool that is not ours: how it is judged besides. */
  readonly judgedAs?: JudgedAs | undefined;
  readonly question: ReturnType<NonNullable<Tool['question']>> | undefined;
  readonly subflow: ReturnType<NonNullable<Tool['subflow']>> | undefined;
}

export interface JudgedAs
  extends Pick<PermissionQuestion, 'kin' | 'allowedAs' | 'doubt'>, Pick<GuardedCall, 'changes'> {
  /** Takes secrets out of what is logged. */
  readonly conceal?: ((text: string) => string) | undefined;
}

export type GateDecision =
  | { readonly kind: 'run'; readonly allowedBy: AllowedBy }
  | { readonly kind: 'ask'; readonly request: SessionEventDraft }
  | { readonly kind: 'deny'; readonly because: string };

/** What an approval is worth when its call is about to run. */
export type Redemption =
  | { readonly kind: 'run'; readonly allowedBy: AllowedBy }
  /** Nothing any more: it has expired, or the call would be another one now. */
  | { readonly kind: 'void' }
  /**
   * It was given for another environment or on another machine, or before grants were bound to one: a person is to be
   * asked again.
   */
  | { readonly kind: 'stale' }
  | { readonly kind: 'deny'; readonly because: string };

export class CallGate {
  readonly #options: GateOptions;
  #policy: Promise<readonly PermissionRule[] | { readonly error: string }> | undefined;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Whether a person can be asked. */
  get canAsk(): boolean {
    return this.#options.humans === 'reachable';
  }

  /** Forgets what it knows of the policy, which may have been changed since. */
  refresh(): void {
    this.#policy = undefined;
  }

  /** @param options `maxSeconds`: how long an answer can be waited for at most */
  async decide(
    checked: CheckedCall,
    state: SessionState,
    { maxSeconds = Infinity }: { readonly maxSeconds?: number } = {},
  ): Promise<GateDecision> {
    const decision = await this.#judge(checked, state, this.#options.humans);
    switch (decision.decision) {
      case 'allow':
        return {
          kind: 'run',
          allowedBy: { kind: decision.by, ...(decision.rule === undefined ? {} : { rule: decision.rule }) },
        };
      case 'deny':
        return { kind: 'deny', because: decision.because };
      case 'ask':
        return { kind: 'ask', request: await this.#request(checked, decision, maxSeconds) };
    }
  }

  /**
   * What an approval is worth now: it is for this tool, input, folder and environment and no other, counts until it
   * expires, and is worth nothing against a rule that has forbidden the call since.
   */
  async redeem(checked: CheckedCall, { request }: OpenToolCall, state: SessionState): Promise<Redemption> {
    if (request?.kind !== 'permission') return { kind: 'void' };
    const { hash, expiresAt } = request;
    if (expiresAt !== undefined && this.#options.clock.now() >= Date.parse(expiresAt)) return { kind: 'void' };
    if (hash === undefined) return { kind: 'stale' };
    if (!(await this.#isOf(checked, hash))) return { kind: this.#options.moves === true ? 'stale' : 'void' };
    if (!(await this.#isShutInAs(request.environmentHash))) return { kind: 'stale' };
    // A person has been asked already, whether or not one can be now.
    const decision = await this.#judge(checked, state, 'reachable');
    return decision.decision === 'deny'
      ? { kind: 'deny', because: decision.because }
      : { kind: 'run', allowedBy: { kind: 'person' } };
  }

  /**
   * Keeps rules that a person has allowed for always. Where that fails the approval holds as long as the session does.
   */
  async keep(rules: readonly string[], requestId: string): Promise<void> {
    const { policy, session, onTrouble } = this.#options;
    try {
      for (const rule of rules)
        await policy?.keep(session.agentId, parseRule(`allow ${rule}`), {
          by: { sessionId: session.sessionId, requestId },
        });
    } catch (error) {
      onTrouble(error);
    }
    this.refresh();
  }

  async #judge(
    { tool, subject, judgedAs: { kin, allowedAs, doubt, changes } = {} }: Judged,
    state: SessionState,
    humans: GatePorts['humans'],
  ): Promise<PermissionDecision> {
    const { agent, readShell, places, guard } = this.#options;
    const { sessionRules } = state;
    const { allow } = agent.definition.permission;
    const { mode, ask, deny, ...left } = ownBounds(state, agent.definition.permission);
    if (isTakenAway([tool.definition.name, ...(kin ?? [])], left))
      return { decision: 'deny', by: 'mode', because: `this session may not use ${tool.definition.name}` };
    const policy = await this.#rules();
    // Rules that cannot be read may be the ones that forbid it.
    if ('error' in policy) return unreadable(policy.error, humans);
    const own = rulesOf({ allow, ask, deny });
    const session = rulesOf({ allow: sessionRules });
    if ('error' in own) return unreadable(own.error, humans);
    if ('error' in session) return unreadable(session.error, humans);
    const reading = subject.kind === 'shell' ? readShell?.(subject.command) : undefined;
    const { workspaceDirectory } = agent;
    const guarded = await guardedPlace(guard, { subject, reading, workspaceDirectory, changes });
    const question = {
      definition: tool.definition,
      subject,
      reading,
      workspaceDirectory,
      mode,
      policy: [...policy, ...own],
      sessionRules: session,
      humans,
      kin,
      allowedAs,
      doubt,
      guarded,
    };
    const decision = decidePermission(question);
    // Commands that only read are safe by their words. Where those lead, and what the repository there would run, only
    // a check can tell.
    const check = checkOf(question, decision);
    if (check === undefined) return decision;
    const because = places === undefined ? 'it is unknown where the command leads' : await places.problem(check);
    return because === undefined ? decision : unsafe(question, because);
  }

  #rules(): Promise<readonly PermissionRule[] | { readonly error: string }> {
    const { policy, session } = this.#options;
    if (policy === undefined) return Promise.resolve([]);
    return (this.#policy ??= policy.rules(session.agentId).then(
      (kept) => kept.map(({ rule }) => rule),
      (error: unknown) => ({ error: messageOf(error) }),
    ));
  }

  async #request(
    { call: { callId, name, input }, tool, subject, judgedAs: { conceal = asItIs } = {} }: Judged,
    { because, suggestions }: Extract<PermissionDecision, { readonly decision: 'ask' }>,
    maxSeconds: number,
  ): Promise<SessionEventDraft> {
    const { newId, clock, agent, moves = false } = this.#options;
    const requestId = newId();
    const seconds = Math.min(maxSeconds, agent.definition.permission.expiresAfterSeconds ?? DEFAULT_PERMISSION_SECONDS);
    const shutIn = await (moves ? movingEnvironmentHash : environmentHash)(agent.environment);
    const texts = suggestions.map((rule) => ruleText(rule));
    // A rule that holds a secret is not written anywhere.
    const rules = texts.every((text) => conceal(text) === text) ? texts : [];
    return {
      id: requestId,
      type: 'permission.requested',
      data: {
        requestId,
        callId,
        toolName: name,
        input,
        because: conceal(`${because}${whereText(subject, agent.environment)}`),
        hash: await this.#hashOf({ call: { name, input }, tool, subject }, moves),
        ...(shutIn === undefined ? {} : { environmentHash: shutIn }),
        cwd: conceal(this.#folderOf(subject)),
        expiresAt: isoTimeOf(clock.now() + seconds * 1000),
        ...(rules.length === 0 ? {} : { rules }),
      },
    };
  }

  /** Also one of this machine only, as they were before, and are where no workspace moves. */
  async #isOf(checked: CheckedCall, hash: string): Promise<boolean> {
    return hash === (await this.#hashOf(checked, false)) || hash === (await this.#hashOf(checked, true));
  }

  async #isShutInAs(hash: string | undefined): Promise<boolean> {
    const { environment } = this.#options.agent;
    return hash === (await environmentHash(environment)) || hash === (await movingEnvironmentHash(environment));
  }

  /**
   * Also over where a path leads, and over what a server or an agent file says that the tool is: either may change
   * while a person is asked.
   */
  #hashOf({ call: { name, input }, tool: { definition }, subject }: Hashed, moves: boolean): Promise<string> {
    const { ownership, description, inputJsonSchema = null, readOnly, destructive } = definition;
    const known = ownership === 'managed' ? null : { description, inputJsonSchema, readOnly, destructive };
    const placed = moves ? (path: string): GrantPlace => placeInWorkspace(path, this.#workspaces()) : asItIs;
    const place = subject.kind === 'path' ? placed(subject.path) : null;
    return grantHash({
      tool: name,
      input: known === null && place === null ? input : [input, place, known],
      cwd: placed(this.#folderOf(subject)),
    });
  }

  /** The names of the workspace on this machine. */
  #workspaces(): readonly string[] {
    const { workspaceDirectory, environment } = this.#options.agent;
    const real = environment?.mounts.find(({ kind }) => kind === 'workspace')?.directory;
    return real === undefined ? [workspaceDirectory] : [workspaceDirectory, real];
  }

  #folderOf(subject: PermissionSubject): string {
    return subject.kind === 'shell' ? subject.cwd : this.#options.agent.workspaceDirectory;
  }
}

type Judged = Pick<CheckedCall, 'call' | 'tool' | 'subject' | 'judgedAs'>;

interface Hashed extends Pick<CheckedCall, 'tool' | 'subject'> {
  readonly call: Pick<ToolCallInput, 'name' | 'input'>;
}

const asItIs = (text: string): string => text;

/** Where a command would run, for the person who is asked. */
function whereText({ kind }: PermissionSubject, environment: PreparedAgent['environment']): string {
  if (kind !== 'shell' || environment === undefined) return '';
  const { sandbox, definition } = environment;
  if (sandbox === undefined)
    return `; it would run on the host, without a sandbox (environment ${definition.environmentId})`;
  return `; it would run in the sandbox of environment ${definition.environmentId}, ${definition.network === 'open' ? 'with the network of the host' : 'without network'}`;
}

type RuleTexts = Partial<Readonly<Record<PermissionRule['effect'], readonly string[]>>>;

function rulesOf({
  allow = [],
  ask = [],
  deny = [],
}: RuleTexts): readonly PermissionRule[] | { readonly error: string } {
  const texts = [
    ...allow.map((rule) => `allow ${rule}`),
    ...ask.map((rule) => `ask ${rule}`),
    ...deny.map((rule) => `deny ${rule}`),
  ];
  try {
    return texts.map((text) => parseRule(text));
  } catch (error) {
    return { error: messageOf(error) };
  }
}

function unreadable(error: string, humans: GatePorts['humans']): PermissionDecision {
  const because = `The policy cannot be read, so nothing is allowed by itself: ${error}`;
  return humans === 'none'
    ? { decision: 'deny', because, by: 'unattended' }
    : { decision: 'ask', because, suggestions: [] };
}
