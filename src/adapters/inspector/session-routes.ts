/** The stored sessions: which there are, how each stands, what it did, and answers to what it waits for. */
import type { InspectedEvents, InspectionSource } from '../../actors/inspection/inspection-source.ts';
import {
  shownChanges,
  shownProcesses,
  shownSession,
  shownSessions,
  shownSteps,
} from '../../actors/inspection/shown-answers.ts';
import * as z from 'zod';
import { parseOrThrow } from '../../machines/validate.ts';
import { AnswerIntake } from './answer-intake.ts';
import type { CheckedInspectorOptions } from './inspector-options.ts';
import { readJson } from './read-json.ts';
import { numberOf, parametersOf } from './request-gate.ts';
import { sendJson } from './respond.ts';
import { Refusal } from './refusal.ts';
import { READING, sequenceNumber, sessionNamed, sessionUnknown, soon } from './route.ts';
import type { Route, Visit } from './route.ts';

/** What may be asked for at once; of sessions, more are said as a number. */
const MAX_SESSIONS = 1_000;
const SESSIONS = 200;
const MAX_EVENTS = 1_000;
const EVENTS = 200;

const endedProcess = z.strictObject({ pid: z.int().positive(), isFar: z.boolean().default(false) });

const reason = z.string().min(1).max(2_000).optional();
const givenCommand = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('wake') }),
  z.strictObject({ type: z.literal('interrupt'), reason }),
  z.strictObject({ type: z.literal('terminate'), reason }),
]);

export class SessionRoutes {
  readonly #source: InspectionSource;
  readonly #desk: AnswerIntake;
  readonly #limits: CheckedInspectorOptions['limits'];

  constructor({ source, limits }: CheckedInspectorOptions) {
    this.#source = source;
    this.#desk = new AnswerIntake(source);
    this.#limits = limits;
  }

  get all(): readonly Route[] {
    return [
      { pattern: /^\/api\/sessions$/, methods: READING, answer: (visit) => this.#sessions(visit) },
      { pattern: /^\/api\/sessions\/([^/]+)$/, methods: READING, answer: (visit) => this.#session(visit) },
      { pattern: /^\/api\/sessions\/([^/]+)\/events$/, methods: READING, answer: (visit) => this.#events(visit) },
      {
        pattern: /^\/api\/sessions\/([^/]+)\/transcript$/,
        methods: READING,
        answer: (visit) => this.#transcript(visit),
      },
      { pattern: /^\/api\/sessions\/([^/]+)\/processes$/, methods: READING, answer: (visit) => this.#processes(visit) },
      {
        pattern: /^\/api\/sessions\/([^/]+)\/processes\/end$/,
        methods: ['POST'],
        answer: (visit) => this.#endProcess(visit),
      },
      { pattern: /^\/api\/sessions\/([^/]+)\/changes$/, methods: READING, answer: (visit) => this.#changes(visit) },
      { pattern: /^\/api\/sessions\/([^/]+)\/commands$/, methods: ['POST'], answer: (visit) => this.#command(visit) },
      { pattern: /^\/api\/sessions\/([^/]+)\/answers$/, methods: ['POST'], answer: (visit) => this.#answer(visit) },
    ];
  }

  async #sessions({ query, ...exchange }: Visit): Promise<void> {
    const { limit } = parametersOf(query, ['limit']);
    const most = limit === undefined ? SESSIONS : numberOf('limit', limit, { min: 1, max: MAX_SESSIONS });
    sendJson(exchange, 200, shownSessions(await this.#soon(this.#source.sessions({ limit: most }))));
  }

  async #session({ query, name, ...exchange }: Visit): Promise<void> {
    parametersOf(query, []);
    const session = await this.#soon(this.#source.session(sessionNamed(name)));
    if (session === undefined) throw sessionUnknown();
    sendJson(exchange, 200, shownSession(session));
  }

  async #events({ query, name, ...exchange }: Visit): Promise<void> {
    sendJson(exchange, 200, await this.#eventsOf(query, name));
  }

  /** The same events, as a page tells them. */
  async #transcript({ query, name, ...exchange }: Visit): Promise<void> {
    sendJson(exchange, 200, shownSteps(await this.#eventsOf(query, name)));
  }

  /** @throws Refusal for a query or a session that cannot be */
  async #eventsOf(query: URLSearchParams, name: string): Promise<InspectedEvents> {
    const { from = '1', limit } = parametersOf(query, ['from', 'limit']);
    const wanted = {
      from: sequenceNumber(from),
      limit: limit === undefined ? EVENTS : numberOf('limit', limit, { min: 1, max: MAX_EVENTS }),
    };
    const events = await this.#soon(this.#source.events(sessionNamed(name), wanted));
    if (events === undefined) throw sessionUnknown();
    return events;
  }

  async #processes({ query, name, ...exchange }: Visit): Promise<void> {
    parametersOf(query, []);
    const session = sessionNamed(name);
    const [processes, far] = await this.#soon(
      Promise.all([this.#source.processes(session), this.#source.farProcesses?.(session)]),
    );
    sendJson(exchange, 200, shownProcesses(processes, far));
  }

  /** The body names it: { pid, isFar }. */
  async #endProcess({ query, name, ...exchange }: Visit): Promise<void> {
    parametersOf(query, []);
    const session = sessionNamed(name);
    const { pid, isFar } = parseOrThrow(endedProcess, await readJson(exchange.request, this.#limits.maxBodyBytes), {
      what: 'process to end',
      code: 'INSPECTOR_PROCESS_INVALID',
      hint: 'Send { pid }, as the list of processes has it, with isFar for one that another program has told.',
    });
    if (this.#source.endProcess === undefined)
      throw new Refusal(409, 'INSPECTOR_ENDS_NOTHING', 'what is shown here has no processes that could be ended', {
        hint: 'End it where it runs.',
      });
    await this.#soon(this.#source.endProcess(session, pid, { isFar }));
    sendJson(exchange, 200, {});
  }

  async #changes({ query, name, ...exchange }: Visit): Promise<void> {
    parametersOf(query, []);
    sendJson(exchange, 200, {
      changes: (await this.#soon(this.#source.changes(sessionNamed(name)))).map(shownChanges),
    });
  }

  async #answer({ query, name, ...exchange }: Visit): Promise<void> {
    parametersOf(query, []);
    const session = sessionNamed(name);
    const body = await readJson(exchange.request, this.#limits.maxBodyBytes);
    sendJson(exchange, 200, { receipt: await this.#soon(this.#desk.take(session, body)) });
  }

  async #command({ query, name, ...exchange }: Visit): Promise<void> {
    parametersOf(query, []);
    const session = sessionNamed(name);
    const command = parseOrThrow(givenCommand, await readJson(exchange.request, this.#limits.maxBodyBytes), {
      what: 'command',
      code: 'INSPECTOR_COMMAND_INVALID',
      hint: 'Send { type: "wake" | "interrupt" | "terminate" }, with a reason for the last two.',
    });
    if (this.#source.command === undefined)
      throw new Refusal(409, 'INSPECTOR_COMMANDS_NOTHING', 'what is shown here takes no commands', {
        hint: 'Use the command line where the session is.',
      });
    sendJson(exchange, 200, { receipt: await this.#soon(this.#source.command(session, command)) });
  }

  #soon<Value>(value: Promise<Value>): Promise<Value> {
    return soon(value, this.#limits.requestMs);
  }
}
