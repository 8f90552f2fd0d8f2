/** Calls as bars, in them what was asked for and the sessions that answer them; and the other sessions that work for it. */
import { outcomeOf } from './actor-outcome.ts';
import type { ActorOutcome } from './actor-outcome.ts';
import { callSubject, shortLine } from './call-label.ts';
import type { GrowingBar } from './session-bar.ts';
import { callEndTold } from './session-bar-words.ts';
import type { WakeBars } from './session-bars-wakes.ts';
import type { BarMeanings, BarTree } from './session-bars.ts';

export class CallBars {
  readonly #tree: BarTree;
  readonly #wakes: WakeBars;
  readonly #calls = new Map<string, GrowingBar>();
  readonly #requests = new Map<string, GrowingBar>();
  readonly #children = new Map<string, GrowingBar>();
  /** Children that are jobs: that one came to rest is not its end. */
  readonly #jobs = new Set<GrowingBar>();
  /** When the process was heard of last with which the call was lost. */
  readonly #lost = new Map<GrowingBar, number>();
  /** That ended since the wake was heard of: another one may have written so. */
  #closed: GrowingBar[] = [];

  readonly means: BarMeanings = {
    'agent.tool_use': ({ callId = '', name = '', input, spanId = '', by }) => {
      const isOfBackend = by === 'backend';
      const call = this.#tree.begin({
        kind: 'call',
        parent: (isOfBackend ? this.#wakes.step(spanId) : undefined) ?? this.#wakes.open ?? this.#tree.root,
        label: shortLine(callSubject(name, input)),
        is: isOfBackend ? 'working' : 'resting',
      });
      const before = this.#calls.get(callId);
      if (before !== undefined) this.#endCall(before, 'unknown');
      this.#calls.set(callId, call);
      return call;
    },
    'agent.tool_started': ({ callId = '' }) => this.#set(callId, 'working'),
    // Only of calls whose process died.
    'agent.tool_requeued': ({ callId = '' }) => this.#set(callId, 'resting', this.#wakes.heard),
    'agent.tool_result': ({ callId = '', outcome, output }) => {
      const call = this.#calls.get(callId);
      if (call === undefined) return undefined;
      this.#calls.delete(callId);
      const told = callEndTold(outcome, output);
      this.#endCall(call, outcomeOf({ status: 'done', output: { outcome, output } }), told);
      return call;
    },
    'permission.requested': ({ requestId, callId }) => this.#ask(requestId, callId, 'Permission'),
    'agent.question_asked': ({ requestId, callId, question = '' }) =>
      this.#ask(requestId, callId, `Question: ${question}`),
    'agent.custom_tool_use': ({ requestId, callId, name = '' }) =>
      this.#ask(requestId, callId, `A client's result of ${name}`),
    'user.tool_confirmation': ({ requestId, allowed, note }) =>
      this.#answer(requestId, allowed === true ? 'completed' : 'refused', note),
    'user.answer': ({ requestId, response }) => this.#answer(requestId, 'completed', response),
    'user.custom_tool_result': ({ requestId }) => this.#answer(requestId, 'completed'),
    'permission.resolved': ({ requestId, decision }) => {
      const told = decision === 'expired' ? 'No answer came in time.' : undefined;
      return this.#answer(requestId, decision === 'allowed' ? 'completed' : 'refused', told);
    },
    'request.cancelled': ({ requestId }) => this.#answer(requestId, 'cancelled'),
    'agent.subflow_started': ({ childSessionId, agentId, callId = '' }) =>
      this.#child(childSessionId, agentId, this.#calls.get(callId)),
    'subagent.started': ({ childSessionId, label, agentId }) => {
      const child = this.#child(childSessionId, label ?? agentId);
      this.#jobs.add(child);
      return child;
    },
    'session.child_created': ({ childSessionId, label, agentId }) => this.#child(childSessionId, label ?? agentId),
    'session.child_idle': ({ childSessionId = '', reason, summary }) => {
      const child = this.#children.get(childSessionId);
      if (child === undefined || child.to !== undefined || this.#jobs.has(child)) return child;
      if (reason === 'requires_action') this.#tree.set(child, 'waiting');
      else this.#tree.end(child, { outcome: reason === 'parked' ? 'failed' : 'completed', told: summary });
      return child;
    },
    'subagent.ended': ({ childSessionId = '', status, summary, error }) => {
      const child = this.#children.get(childSessionId);
      if (child === undefined) return undefined;
      this.#jobs.delete(child);
      const outcome = outcomeOf({ status: 'done', output: { outcome: status } });
      this.#tree.end(child, { outcome, told: error?.message ?? summary });
      return child;
    },
    'session.status_changed': ({ to }) => {
      if (to !== 'terminated') return undefined;
      for (const open of [...this.#calls.values()]) this.#endCall(open, 'cancelled');
      for (const open of [...this.#requests.values(), ...this.#children.values()])
        this.#tree.end(open, { outcome: 'cancelled' });
      this.#calls.clear();
      return undefined;
    },
  };

  constructor(tree: BarTree, wakes: WakeBars) {
    this.#tree = tree;
    this.#wakes = wakes;
  }

  /** Of each child the last one. */
  get children(): readonly GrowingBar[] {
    return [...this.#children.values()];
  }

  call(callId: string): GrowingBar | undefined {
    return this.#calls.get(callId);
  }

  request(requestId: string): GrowingBar | undefined {
    return this.#requests.get(requestId);
  }

  child(childSessionId: string): GrowingBar | undefined {
    return this.#children.get(childSessionId);
  }

  /** The wake lives. */
  hear(): void {
    this.#closed = [];
  }

  /** The process died in which they ran: nothing happens until another one says what became of them. */
  lose(heard: number): void {
    for (const call of this.#closed) this.#tree.endEarlier(call, heard);
    this.#closed = [];
    for (const call of this.#calls.values()) {
      if (call.own !== 'working') continue;
      this.#lost.set(call, heard);
      this.#tree.set(call, 'resting', heard);
    }
  }

  #set(callId: string, is: 'working' | 'resting', at?: number): GrowingBar | undefined {
    const call = this.#calls.get(callId);
    if (call === undefined) return undefined;
    this.#lost.delete(call);
    this.#tree.set(call, is, at);
    return call;
  }

  /** What is in it is over with it. Where it is not known how it ended, it was heard of last with its process. */
  #endCall(call: GrowingBar, outcome: ActorOutcome | undefined, told?: string): void {
    const lost = outcome === 'unknown' ? this.#lost.get(call) : undefined;
    const at = lost === undefined ? undefined : Math.max(lost, ...call.children.map(({ from, to = from }) => to));
    for (const child of call.children) this.#tree.end(child, { outcome, at });
    this.#tree.end(call, { outcome, told, at });
    this.#lost.delete(call);
    this.#closed.push(call);
  }

  #ask(requestId = '', callId = '', label: string): GrowingBar {
    const parent = this.#calls.get(callId) ?? this.#wakes.open ?? this.#tree.root;
    const before = this.#requests.get(requestId);
    if (before !== undefined) this.#tree.end(before, { outcome: 'unknown' });
    // What was asked before about the same is spent.
    for (const child of parent.kind === 'call' ? parent.children : [])
      if (child.kind === 'request') this.#tree.end(child, { outcome: 'cancelled' });
    const request = this.#tree.begin({ kind: 'request', parent, label: shortLine(label), is: 'waiting' });
    this.#requests.set(requestId, request);
    return request;
  }

  #answer(requestId = '', outcome: ActorOutcome, told?: string): GrowingBar | undefined {
    const request = this.#requests.get(requestId);
    if (request !== undefined) this.#tree.end(request, { outcome, told });
    return request;
  }

  /** Each session once, though several events tell of it. */
  #child(sessionId = '', label = '', call?: GrowingBar): GrowingBar {
    const known = this.#children.get(sessionId);
    if (known !== undefined && known.to === undefined) return known;
    const child = this.#tree.begin({
      kind: 'child',
      parent: call ?? this.#wakes.open ?? this.#tree.root,
      label: shortLine(label),
      is: 'working',
      isBeside: call === undefined,
    });
    child.sessionId = sessionId;
    this.#children.set(sessionId, child);
    return child;
  }
}
