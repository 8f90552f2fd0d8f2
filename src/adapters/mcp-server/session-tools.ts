/** What the tools about agents and sessions do. */
import { storeAnswer } from '../../actors/inspection/session-answer.ts';
import { awaitTurn } from '../../actors/protocol/await-turn.ts';
import type { AwaitTurnOptions } from '../../actors/protocol/await-turn.ts';
import { cancelTurn } from '../../actors/protocol/cancel-turn.ts';
import type { ProtocolRuntime } from '../../actors/protocol/protocol-runtime.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { parseTurnId } from '../../machines/protocol/turn.ts';
import type { TurnRef } from '../../machines/protocol/turn.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { ToolInput } from './tool-definitions.ts';
import { turnRecord } from './turn-result.ts';
import type { Structured } from './turn-result.ts';

/** What a call brings along. */
export interface CallSurroundings extends Pick<AwaitTurnOptions, 'ask' | 'onNews'> {
  readonly signal: AbortSignal;
  /** Whether the client has taken the call back, and has not just gone. */
  readonly isCancelled: () => boolean;
}

/** What a tool call can do, which no person may have seen. */
export interface CallRights {
  /** Give permissions. */
  readonly mayAllow: boolean;
  /** Say where a session runs, which may be where nothing is asked. */
  readonly mayPlace: boolean;
}

export class SessionTools {
  readonly #runtime: ProtocolRuntime;
  readonly #rights: CallRights;

  constructor(runtime: ProtocolRuntime, rights: CallRights) {
    this.#runtime = runtime;
    this.#rights = rights;
  }

  async agents(): Promise<Structured> {
    const agents = await this.#runtime.agents.list();
    return {
      agents: agents.map((listing) =>
        'error' in listing
          ? { agent: listing.agentId, error: listing.error.message }
          : { agent: listing.agentId, name: listing.definition.name, description: listing.definition.description },
      ),
    };
  }

  async list({ agent, status, newest }: ToolInput<'sessions_list'>): Promise<Structured> {
    const sessions = await this.#runtime.sessions.list({
      newest,
      ...(agent === undefined ? {} : { agentId: agent }),
      ...(status === undefined ? {} : { status }),
    });
    return { sessions: sessions.map(sessionRecord) };
  }

  /** @returns undefined where no message came along, so that nothing is to be done yet */
  async start({ agent, message, title, environment }: ToolInput<'session_start'>): Promise<{
    readonly created: SessionState;
    readonly ref: TurnRef | undefined;
  }> {
    if (environment !== undefined && !this.#rights.mayPlace)
      throw new RuntimeError('MCP_ALLOWANCE_REFUSED', 'a person chooses where a session runs, not a call of a tool', {
        category: 'permission',
        hint: 'Leave "environment" out: the session works where its agent says. Who wants calls to choose starts the server with --allow-commands.',
      });
    const created = await this.#runtime.sessions.create({
      agentId: agent,
      ...(title === undefined ? {} : { title }),
      ...(environment === undefined ? {} : { environmentId: environment }),
    });
    const { sessionId: session } = created;
    return { created, ref: message === undefined ? undefined : await this.send({ session, message }) };
  }

  async send({ session, message, delivery }: Omit<ToolInput<'session_send'>, 'waitSeconds'>): Promise<TurnRef> {
    const { seq } = await this.#runtime.sessions.send(
      session,
      { type: 'user.message', text: message },
      delivery === undefined ? {} : { delivery },
    );
    return { sessionId: session, seq };
  }

  /** One that is taken back by the client is interrupted; a client that has gone leaves it to go on. */
  async follow(ref: TurnRef, waitSeconds: number, call: CallSurroundings): Promise<Structured> {
    const { sessions } = this.#runtime;
    const signal = AbortSignal.any([call.signal, AbortSignal.timeout(waitSeconds * 1_000)]);
    const { turn, asked } = await awaitTurn(sessions, ref, { ...call, signal });
    if (call.isCancelled()) await cancelTurn(sessions, ref, 'the client cancelled the call');
    return turnRecord(turn, asked);
  }

  async wait({ turn, waitSeconds }: ToolInput<'session_wait'>, call: CallSurroundings): Promise<Structured> {
    const ref = parseTurnId(turn);
    if (ref === undefined)
      throw new RuntimeError('TURN_NOT_FOUND', `expected the name of a turn, received ${JSON.stringify(turn)}`, {
        category: 'validation',
        hint: 'session_start and session_send name it: SESSION.NUMBER.',
      });
    return this.follow(ref, waitSeconds, { ...call, isCancelled: () => false });
  }

  async read({ session, from, limit }: ToolInput<'session_read'>): Promise<Structured> {
    const state = await this.#runtime.sessions.status(session);
    const events: object[] = [];
    for await (const { seq, at, type, data } of this.#runtime.sessions.events(session, { from, limit }))
      events.push({ seq, at, type, data });
    const next = from + events.length;
    return { ...sessionRecord(state), events, ...(next <= state.head ? { next } : {}) };
  }

  async answer(input: ToolInput<'session_answer'>): Promise<Structured> {
    const { session, request: requestId, decision, scope, answer } = input;
    if ((decision === undefined) === (answer === undefined))
      throw invalidAnswer('expected either a decision or an answer');
    if (decision !== 'allow' && scope !== undefined) throw invalidAnswer('only what is allowed has a scope');
    if (decision === 'allow' && !this.#rights.mayAllow)
      throw new RuntimeError('MCP_ALLOWANCE_REFUSED', 'a permission is given by a person, not by a call of a tool', {
        category: 'permission',
        hint: `A person allows it with "wakechart session confirm-tool --session ${session} --request ${requestId} --allow" or in the inspector. Who wants calls to give permissions starts the server with --allow-answers.`,
      });
    const receipt = await storeAnswer(
      this.#runtime.sessions,
      session,
      answer !== undefined
        ? { type: 'answer', requestId, text: answer }
        : decision === 'allow'
          ? { type: 'allow', requestId, ...(scope === undefined ? {} : { scope }) }
          : { type: 'deny', requestId },
    );
    return { session, request: requestId, stored: receipt.seq };
  }

  async interrupt({ session, reason = 'by a client of MCP' }: ToolInput<'session_interrupt'>): Promise<Structured> {
    const { seq } = await this.#runtime.sessions.interrupt(session, { reason });
    return { session, stored: seq };
  }

  async stop({ session, reason = 'by a client of MCP' }: ToolInput<'session_stop'>): Promise<Structured> {
    return sessionRecord(await this.#runtime.sessions.terminate(session, { reason }));
  }
}

export function sessionRecord(state: SessionState): Structured {
  const { sessionId, agentId, title, status, stopReason, summary, head, pendingActions, parked } = state;
  return {
    session: sessionId,
    agent: agentId,
    ...(title === undefined ? {} : { title }),
    status,
    ...(stopReason === undefined ? {} : { stopReason }),
    ...(summary === undefined ? {} : { summary }),
    ...(parked === undefined ? {} : { parked: parked.reason }),
    ...(pendingActions.length === 0 ? {} : { asks: pendingActions.map(({ requestId }) => requestId) }),
    head,
  };
}

function invalidAnswer(message: string): RuntimeError {
  return new RuntimeError('MCP_CALL_INVALID', `the answer is not valid: ${message}`, {
    category: 'validation',
    hint: 'Give { session, request } with decision "allow" or "deny" for a permission, or with answer for a question.',
  });
}
