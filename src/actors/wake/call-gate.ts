/**
 * Decides, at the effect, whether a tool call may run now: from the rules of the agent, of the policy and of the session, and from what
 * somebody has answered. What cannot be decided asks; where nobody can be asked, it is denied.
 */
import { messageOf } from '../../machines/errors.ts';
import { decidePermission } from '../../machines/permission/permission-decision.ts';
import type { PermissionDecision } from '../../machines/permission/permission-decision.ts';
import { formatRule, parseRule } from '../../machines/permission/permission-rule.ts';
import type { PermissionRule } from '../../machines/permission/permission-rule.ts';
import type { PermissionSubject } from '../../machines/permission/permission-subject.ts';
import { DEFAULT_PERMISSION_SECONDS } from '../../machines/session/limits.ts';
import type { AllowedBy } from '../../machines/session/event-schemas.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { OpenToolCall, SessionState } from '../../machines/session/session-state.ts';
import type { ToolCallInput } from '../../machines/turn/tool-call-machine.ts';
import { isoTimeOf } from '../clock/iso-time.ts';
import type { Clock } from '../clock/clock.ts';
import { grantHash } from '../permission/grant-hash.ts';
import type { PolicyStore } from '../permission/policy-store.ts';
import type { ReadShell } from '../permission/shell-reader.ts';
import type { SessionIdentity } from '../session/event-store.ts';
import type { Tool } from '../turn/tool.ts';
import type { PreparedAgent } from './wake-context.ts';

export interface GatePorts {
  readonly clock: Clock;
  readonly readShell: ReadShell | undefined;
  readonly policy: PolicyStore | undefined;
  /** Whether somebody can be asked. */
  readonly humans: 'reachable' | 'none';
}

export interface GateOptions extends GatePorts {
  readonly agent: PreparedAgent;
  readonly session: SessionIdentity;
  readonly newId: () => string;
}

/** A call whose input is known to be what its tool expects. */
export interface CheckedCall {
  readonly call: ToolCallInput;
  readonly tool: Tool;
  readonly input: unknown;
}

export type GateDecision =
  | { readonly kind: 'run'; readonly allowedBy: AllowedBy }
  | { readonly kind: 'ask'; readonly request: SessionEventDraft }
  | { readonly kind: 'deny'; readonly because: string };

export class CallGate {
  readonly #options: GateOptions;
  #policy: Promise<readonly PermissionRule[] | { readonly error: string }> | undefined;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Forgets what it knows of the policy, which may have been changed since. */
  refresh(): void {
    this.#policy = undefined;
  }

  async decide({ call, tool, input }: CheckedCall, state: SessionState): Promise<GateDecision> {
    const subject = this.#subjectOf(tool, input);
    const decision = await this.#judge(tool, subject, state);
    switch (decision.decision) {
      case 'allow':
        return { kind: 'run', allowedBy: { kind: decision.by, ...(decision.rule === undefined ? {} : { rule: decision.rule }) } };
      case 'deny':
        return { kind: 'deny', because: decision.because };
      case 'ask':
        return { kind: 'ask', request: await this.#request(call, subject, decision) };
    }
  }

  /**
   * What an approval is worth now: it is for this tool, input and folder and no other, and counts until it expires. Undefined when it
   * is worth nothing any more, so that the call has to be decided anew.
   */
  async redeem({ call, tool, input }: CheckedCall, { request }: OpenToolCall): Promise<AllowedBy | undefined> {
    if (request?.kind !== 'permission') return undefined;
    const { hash, expiresAt } = request;
    if (expiresAt !== undefined && this.#options.clock.now() > Date.parse(expiresAt)) return undefined;
    if (hash !== undefined && hash !== (await this.#hashOf(call, this.#subjectOf(tool, input)))) return undefined;
    return { kind: 'person' };
  }

  /** Keeps rules that somebody has allowed for always. */
  async keep(rules: readonly string[], requestId: string): Promise<void> {
    const { policy, session } = this.#options;
    for (const rule of rules) await policy?.keep(session.agentId, parseRule(`allow ${rule}`), { by: { sessionId: session.sessionId, requestId } });
    this.refresh();
  }

  async #judge(tool: Tool, subject: PermissionSubject, { sessionRules }: SessionState): Promise<PermissionDecision> {
    const { agent, humans, readShell } = this.#options;
    const { mode, allow, ask, deny } = agent.definition.permission;
    const policy = await this.#rules();
    // Rules that cannot be read may be the ones that forbid it.
    if ('error' in policy) return unreadable(policy.error, humans);
    return decidePermission({
      definition: tool.definition,
      subject,
      reading: subject.kind === 'shell' ? readShell?.(subject.command) : undefined,
      workspaceDirectory: agent.workspaceDirectory,
      mode,
      policy: [...policy, ...allow.map((rule) => parseRule(`allow ${rule}`)), ...ask.map((rule) => parseRule(`ask ${rule}`)), ...deny.map((rule) => parseRule(`deny ${rule}`))],
      sessionRules: sessionRules.map((rule) => parseRule(`allow ${rule}`)),
      humans,
    });
  }

  #rules(): Promise<readonly PermissionRule[] | { readonly error: string }> {
    const { policy, session } = this.#options;
    if (policy === undefined) return Promise.resolve([]);
    return (this.#policy ??= policy.rules(session.agentId).then(
      (kept) => kept.map(({ rule }) => rule),
      (error: unknown) => ({ error: messageOf(error) }),
    ));
  }

  async #request({ callId, name, input }: ToolCallInput, subject: PermissionSubject, { because, suggestions }: Extract<PermissionDecision, { readonly decision: 'ask' }>): Promise<SessionEventDraft> {
    const { newId, clock, agent } = this.#options;
    const requestId = newId();
    const seconds = agent.definition.permission.expiresAfterSeconds ?? DEFAULT_PERMISSION_SECONDS;
    const rules = suggestions.map((rule) => ruleText(rule));
    return {
      id: requestId,
      type: 'permission.requested',
      data: {
        requestId,
        callId,
        toolName: name,
        input,
        because,
        hash: await this.#hashOf({ name, input }, subject),
        cwd: this.#folderOf(subject),
        expiresAt: isoTimeOf(clock.now() + seconds * 1000),
        ...(rules.length === 0 ? {} : { rules }),
      },
    };
  }

  #subjectOf(tool: Tool, input: unknown): PermissionSubject {
    const { session, agent } = this.#options;
    return tool.subject?.(input, { session, workspaceDirectory: agent.workspaceDirectory }) ?? { kind: 'tool' };
  }

  #hashOf({ name, input }: Pick<ToolCallInput, 'name' | 'input'>, subject: PermissionSubject): Promise<string> {
    return grantHash({ tool: name, input, cwd: this.#folderOf(subject) });
  }

  #folderOf(subject: PermissionSubject): string {
    return subject.kind === 'shell' ? subject.cwd : this.#options.agent.workspaceDirectory;
  }
}

/** A rule without its effect: what an approval allows is always to allow. */
function ruleText(rule: PermissionRule): string {
  return formatRule(rule).replace(/^allow /, '');
}

function unreadable(error: string, humans: GatePorts['humans']): PermissionDecision {
  const because = `The policy cannot be read, so nothing is allowed by itself: ${error}`;
  return humans === 'none' ? { decision: 'deny', because, by: 'nobody' } : { decision: 'ask', because, suggestions: [] };
}
