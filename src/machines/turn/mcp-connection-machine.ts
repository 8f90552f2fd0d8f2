/**
 * The life of the connection to one MCP server, which the wakes of an agent share.
 *
 *   disconnected.resting ──CONNECT──▶ connecting ──CONNECTED──▶ ready
 *        ▲   │   │ ▲  ▲               │   ▲  │ │                │
 *        │   │   │ │  └───GIVE_UP─────│───│──┘ │                │
 *        │   │   │ │            BACK_OFF CONNECT                │
 *        │   │   │ │                  ▼   │    │                │
 *        │   │   └─│────BACK_OFF──▶ reconnecting               │
 *        │ EXHAUST COOLED                      │                │
 *        │   ▼     │                           │                │
 *        │  disconnected.cooling ◀───EXHAUST───┘                │
 *        └─────────────────── LOSE, REST ───────────────────────┘       every state ──CLOSE──▶ closed
 *
 * disconnected:          Nothing is open.
 * disconnected.resting:  Nothing is open and no call waits; the next that needs the server connects.
 * disconnected.cooling:  It failed too often: who needs the server is refused until the cool-down is over.
 * connecting:            One attempt runs, under the time limit of the start; a call that needs the server waits for
 *                        the same attempt.
 * reconnecting:          The attempt or the connection before has failed; nothing is open, and the next attempt waits
 *                        for its moment.
 * ready:                 The server has answered the handshake; calls may be in flight, and end with an error when it
 *                        is lost.
 * closed:                Nothing is open, and nothing is opened again.
 *
 * The chart is a pure lifecycle and is compiled (see ../lifecycle.ts).
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import type { ChartNotes } from '../inspection/chart-notes.ts';
import { compileLifecycle } from '../lifecycle.ts';
import type { LifecycleSnapshot } from '../lifecycle.ts';
import type { mcpConnectionEvents } from './mcp-connection-events.ts';

export type McpConnectionEventType = keyof typeof mcpConnectionEvents;

export interface McpConnectionEvent {
  readonly type: McpConnectionEventType;
}

export const mcpConnectionMachine = setup({ types: { events: {} as McpConnectionEvent } }).createMachine({
  id: 'mcpConnection',
  description: 'The life of the connection to one MCP server, which the wakes of an agent share.',
  initial: 'disconnected',
  states: {
    disconnected: {
      description: 'Nothing is open.',
      initial: 'resting',
      states: {
        resting: {
          description: 'Nothing is open and no call waits; the next that needs the server connects.',
          on: { CONNECT: '#mcpConnection.connecting', BACK_OFF: '#mcpConnection.reconnecting', EXHAUST: 'cooling' },
        },
        cooling: {
          description: 'It failed too often: who needs the server is refused until the cool-down is over.',
          meta: {
            waives: {
              'ignored-command': {
                CONNECT: 'A call that needs the server is refused before an attempt begins, and told for how long.',
              },
            },
          } satisfies ChartNotes,
          on: { COOLED: 'resting' },
        },
      },
      on: { CLOSE: 'closed' },
    },
    connecting: {
      description:
        'One attempt runs, under the time limit of the start; a call that needs the server waits for the same attempt.',
      meta: {
        waives: { 'ignored-command': { CONNECT: 'A call that needs the server waits for the attempt that runs.' } },
      } satisfies ChartNotes,
      on: {
        CONNECTED: 'ready',
        BACK_OFF: 'reconnecting',
        GIVE_UP: 'disconnected',
        EXHAUST: 'disconnected.cooling',
        CLOSE: 'closed',
      },
    },
    reconnecting: {
      description:
        'The attempt or the connection before has failed; nothing is open, and the next attempt waits for its moment.',
      on: { CONNECT: 'connecting', CLOSE: 'closed' },
    },
    ready: {
      description:
        'The server has answered the handshake; calls may be in flight, and end with an error when it is lost.',
      meta: {
        waives: { 'ignored-command': { CONNECT: 'A call that needs the server uses the connection that is there.' } },
      } satisfies ChartNotes,
      on: { LOSE: 'disconnected', REST: 'disconnected', CLOSE: 'closed' },
    },
    closed: { description: 'Nothing is open, and nothing is opened again.', type: 'final' },
  },
});

export type McpConnectionState = StateValueFrom<typeof mcpConnectionMachine>;

export type McpConnectionSnapshot = LifecycleSnapshot<McpConnectionState>;

export const mcpConnectionLifecycle = compileLifecycle<McpConnectionState, McpConnectionEvent>(mcpConnectionMachine);
