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
 * disconnected.resting:  nothing is open and nobody waits; the next who needs the server connects.
 * disconnected.cooling:  as resting, but it failed too often: who needs the server is refused until the cool-down is over.
 * connecting:            one attempt runs, under the time limit of the start; whoever needs the server waits for the same attempt.
 * reconnecting:          the attempt or the connection before has failed; nothing is open, and the next attempt waits for its moment.
 * ready:                 the server has answered the handshake; calls may be in flight, and end with an error when it is lost.
 * closed:                nothing is open, and nothing is opened again.
 *
 * The chart is a pure lifecycle and is compiled (see ../lifecycle.ts).
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import { compileLifecycle } from '../lifecycle.ts';
import type { LifecycleSnapshot } from '../lifecycle.ts';

export type McpConnectionEventType = 'CONNECT' | 'BACK_OFF' | 'CONNECTED' | 'GIVE_UP' | 'EXHAUST' | 'COOLED' | 'LOSE' | 'REST' | 'CLOSE';

export interface McpConnectionEvent {
  readonly type: McpConnectionEventType;
}

export const mcpConnectionMachine = setup({ types: { events: {} as McpConnectionEvent } }).createMachine({
  id: 'mcpConnection',
  initial: 'disconnected',
  states: {
    disconnected: {
      initial: 'resting',
      states: {
        resting: { on: { CONNECT: '#mcpConnection.connecting', BACK_OFF: '#mcpConnection.reconnecting', EXHAUST: 'cooling' } },
        cooling: { on: { COOLED: 'resting' } },
      },
      on: { CLOSE: 'closed' },
    },
    connecting: {
      on: { CONNECTED: 'ready', BACK_OFF: 'reconnecting', GIVE_UP: 'disconnected', EXHAUST: 'disconnected.cooling', CLOSE: 'closed' },
    },
    reconnecting: { on: { CONNECT: 'connecting', CLOSE: 'closed' } },
    ready: { on: { LOSE: 'disconnected', REST: 'disconnected', CLOSE: 'closed' } },
    closed: { type: 'final' },
  },
});

export type McpConnectionState = StateValueFrom<typeof mcpConnectionMachine>;

export type McpConnectionSnapshot = LifecycleSnapshot<McpConnectionState>;

export const mcpConnectionLifecycle = compileLifecycle<McpConnectionState, McpConnectionEvent>(mcpConnectionMachine);
